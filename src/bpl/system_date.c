/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * •date: moments (seconds since 1970, UTC) of ISO 8601 texts, of texts of a pattern, and of records of fields; and back. The calendar is Gregorian in
 * both directions; days are counted as in H. Hinnant, "chrono-compatible low-level date algorithms", 2014. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <time.h>

#include "base/scalar.h"
#include "bpl/system.h"

#define DAY 86400

/* year, month, day, hour, minute, second, nanosecond, and of what is told: weekday (1: Monday), day of the year, ISO week. */
enum { YEAR, MONTH, DAY_OF_MONTH, HOUR, MINUTE, SECOND, NANOSECOND, READ_FIELDS, WEEKDAY = READ_FIELDS, ORDINAL, ISO_WEEK, FIELDS };
static const char *const fields[FIELDS] = {"year", "month", "day", "hour", "minute", "second", "nanosecond", "weekday", "ordinal", "iso_week"};
static const char *const months[] = {"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
                                     "December"};
static const char *const weekdays[] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};

/* ---- the calendar ------------------------------------------------------------------------------------------------------------------------------------- */

#define MOST_YEAR 262000 /* as far as texts and fields go */

static bool is_leap(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

static int64_t days_of(int64_t year, int64_t month)
{
    return month == 2 ? 28 + is_leap(year) : 30 + (month + month / 8) % 2;
}

/* Days since 1970-01-01. Years begin in March, so that a leap day is the last one. */
static int64_t days_since(int64_t year, int64_t month, int64_t day)
{
    int64_t shifted = (year + 400000) - (month < 3), place = (month + 9) % 12; /* 400000: a multiple of 400 beyond what is asked for */
    return 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + (153 * place + 2) / 5 + day - 1 - 719468 - 1000 * 146097;
}

static void date_of_days(int64_t days, int64_t *to)
{
    int64_t count = days + 719468 + 1000 * 146097, era = count / 146097, of_era = count % 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365, of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t place = (5 * of_year + 2) / 153;
    to[DAY_OF_MONTH] = of_year - (153 * place + 2) / 5 + 1;
    to[MONTH] = place < 10 ? place + 3 : place - 9;
    to[YEAR] = era * 400 + year - 400000 + (to[MONTH] < 3);
}

static int64_t modulo(int64_t a, int64_t b) { return (a % b + b) % b; }

/* What follows from the date: weekday, day of the year, week (the one with the year's first Thursday is 1). */
static void derive(int64_t *to)
{
    int64_t days = days_since(to[YEAR], to[MONTH], to[DAY_OF_MONTH]);
    to[WEEKDAY] = modulo(days + 3, 7) + 1;
    to[ORDINAL] = days - days_since(to[YEAR], 1, 1) + 1;
    int64_t thursday[FIELDS];
    date_of_days(days + 4 - to[WEEKDAY], thursday);
    to[ISO_WEEK] = (days + 4 - to[WEEKDAY] - days_since(thursday[YEAR], 1, 1)) / 7 + 1;
}

static bool is_date(const int64_t *f)
{
    bool day = f[YEAR] >= -MOST_YEAR && f[YEAR] <= MOST_YEAR && f[MONTH] >= 1 && f[MONTH] <= 12 && f[DAY_OF_MONTH] >= 1;
    bool time = f[HOUR] >= 0 && f[HOUR] < 24 && f[MINUTE] >= 0 && f[MINUTE] < 60 && f[SECOND] >= 0 && f[SECOND] <= 60;
    return day && f[DAY_OF_MONTH] <= days_of(f[YEAR], f[MONTH]) && time && f[NANOSECOND] >= 0 && f[NANOSECOND] < 1000000000;
}

/* Seconds of fields without an offset. */
static int64_t seconds_of(const int64_t *f)
{
    return days_since(f[YEAR], f[MONTH], f[DAY_OF_MONTH]) * DAY + f[HOUR] * 3600 + f[MINUTE] * 60 + f[SECOND];
}

/* ---- options ------------------------------------------------------------------------------------------------------------------------------------------ */

typedef struct request {
    char *pattern; /* NULL: ISO 8601, or fields. Owned */
    size_t pattern_length;
    int64_t zone;  /* seconds east of UTC */
    bool local;
} request;

static void request_free(bpl_session *session, request *r)
{
    if (r->pattern) base_free(session->allocator, r->pattern, r->pattern_length + 1);
}

static bool read_zone(bpl_session *session, const bpl_value *options, request *r)
{
    bpl_value *zone = bpl_option(session, options, "zone");
    bool good = zone || !bpl_failed(session);
    if (zone && zone->type == BPL_CHARACTERS) {
        char *text;
        size_t length;
        good = bpl_to_text(session, zone, "the zone of •date", &text, &length);
        r->local = good && !strcmp(text, "local");
        if (good) base_free(session->allocator, text, length + 1);
        good = good && (r->local || bpl_fail(session, BPL_DOMAIN, "the zone of •date is \"local\" or seconds east of UTC"));
    } else if (zone) {
        good = bpl_to_integer(session, zone, "the zone of •date", &r->zone);
        good = good && ((r->zone > -DAY && r->zone < DAY) || bpl_fail(session, BPL_DOMAIN, "the zone of •date is less than a day of seconds"));
    }
    bpl_release(zone);
    return good;
}

static bool read_request(bpl_session *session, const bpl_value *left, request *r)
{
    *r = (request){.pattern = NULL};
    if (!left) return true;
    if (left->type == BPL_CHARACTERS) return bpl_to_text(session, left, "the pattern of •date", &r->pattern, &r->pattern_length);
    return bpl_options_known(session, left, "•date", (const char *const[]){"pattern", "zone"}, 2) && read_zone(session, left, r) &&
           bpl_option_text(session, left, "pattern", &r->pattern, &r->pattern_length);
}

/* Seconds east of UTC at a moment, or at one that a clock of the zone shows (`shown`). */
static int64_t offset_at(const request *r, int64_t seconds, bool shown)
{
    if (!r->local) return r->zone;
    int64_t offset = 0;
    for (int again = 0; again < 2; again++) { /* a shown time is looked up by what it would be */
        time_t moment = (time_t)(shown ? seconds - offset : seconds);
        struct tm broken;
        if (!localtime_r(&moment, &broken)) return 0;
        int64_t wall[READ_FIELDS] = {broken.tm_year + 1900, broken.tm_mon + 1, broken.tm_mday, broken.tm_hour, broken.tm_min, broken.tm_sec, 0};
        offset = seconds_of(wall) - (int64_t)moment;
        if (!shown) break;
    }
    return offset;
}

/* ---- reading texts ------------------------------------------------------------------------------------------------------------------------------------ */

/* What a text says; offset: it names one, in seconds. */
typedef struct said {
    int64_t f[FIELDS];
    bool has_offset, has_moment, afternoon, twelve;
    int64_t offset, moment, ordinal;
} said;

/* From `least` to `most` digits. */
static bool digits(const char **at, int least, int most, int64_t *number)
{
    int count = 0;
    *number = 0;
    while (count < most && **at >= '0' && **at <= '9') *number = 10 * *number + (*(*at)++ - '0'), count++;
    return count >= least;
}

static bool literal(const char **at, char c) { return **at == c ? ++*at, true : false; }

/* Digits behind a point, as nanoseconds. */
static bool fraction(const char **at, int64_t *nanoseconds)
{
    int count = 0;
    *nanoseconds = 0;
    for (; **at >= '0' && **at <= '9'; ++*at, count++)
        if (count < 9) *nanoseconds = 10 * *nanoseconds + (**at - '0');
    for (int i = count; i < 9; i++) *nanoseconds *= 10;
    return count > 0;
}

/* Z, or +hh:mm (a colon may lack). */
static bool read_offset(const char **at, said *s)
{
    int64_t hours, minutes;
    s->has_offset = true;
    if (literal(at, 'Z') || literal(at, 'z')) return true;
    bool west = **at == '-';
    if (!west && **at != '+') return false;
    ++*at;
    if (!digits(at, 2, 2, &hours)) return false;
    literal(at, ':');
    if (!digits(at, 2, 2, &minutes) || hours > 23 || minutes > 59) return false;
    s->offset = (hours * 3600 + minutes * 60) * (west ? -1 : 1);
    return true;
}

static bool read_year(const char **at, int64_t *year)
{
    bool minus = literal(at, '-'), plus = !minus && literal(at, '+');
    if (!digits(at, 4, minus || plus ? 6 : 4, year)) return false;
    if (minus) *year = -*year;
    return true;
}

static bool read_iso(const char *at, said *s)
{
    if (!read_year(&at, &s->f[YEAR]) || !literal(&at, '-') || !digits(&at, 2, 2, &s->f[MONTH]) || !literal(&at, '-') ||
        !digits(&at, 2, 2, &s->f[DAY_OF_MONTH])) return false;
    if (!*at) return true;
    if (!literal(&at, 'T') && !literal(&at, 't')) return false;
    if (!digits(&at, 2, 2, &s->f[HOUR]) || !literal(&at, ':') || !digits(&at, 2, 2, &s->f[MINUTE]) || !literal(&at, ':') ||
        !digits(&at, 2, 2, &s->f[SECOND])) return false;
    if (literal(&at, '.') && !fraction(&at, &s->f[NANOSECOND])) return false;
    return !*at || (read_offset(&at, s) && !*at);
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c; }

/* A name of a list, in full or by its first three letters, whatever the case: its number from 1. */
static bool named(const char **at, const char *const *names, int64_t count, int64_t *number)
{
    for (int64_t i = 0; i < count; i++) {
        size_t same = 0;
        while (names[i][same] && lower((*at)[same]) == lower(names[i][same])) same++;
        if (same < 3) continue;
        *at += names[i][same] ? 3 : same;
        return *number = i + 1, true;
    }
    return false;
}

/* The patterns that stand for several. */
static const char *expanded(char specifier)
{
    switch (specifier) {
    case 'F': return "%Y-%m-%d";
    case 'T': return "%H:%M:%S";
    case 'R': return "%H:%M";
    case 'D': return "%m/%d/%y";
    case 'c': return "%a %b %e %H:%M:%S %Y";
    default: return NULL;
    }
}

static bool read_pattern(const char **at, const char *pattern, said *s);

static bool read_specifier(const char **at, char specifier, said *s)
{
    int64_t ignored, century = 0;
    const char *several = expanded(specifier);
    if (several) return read_pattern(at, several, s);
    switch (specifier) {
    case 'Y': return read_year(at, &s->f[YEAR]);
    case 'y':
        if (!digits(at, 2, 2, &century)) return false;
        return s->f[YEAR] = century + (century < 70 ? 2000 : 1900), true;
    case 'm': return digits(at, 1, 2, &s->f[MONTH]);
    case 'd': return digits(at, 1, 2, &s->f[DAY_OF_MONTH]);
    case 'e': literal(at, ' '); return digits(at, 1, 2, &s->f[DAY_OF_MONTH]);
    case 'j': return digits(at, 1, 3, &s->ordinal);
    case 'H': return digits(at, 1, 2, &s->f[HOUR]);
    case 'I': s->twelve = true; return digits(at, 1, 2, &s->f[HOUR]) && s->f[HOUR] >= 1 && s->f[HOUR] <= 12;
    case 'M': return digits(at, 1, 2, &s->f[MINUTE]);
    case 'S': return digits(at, 1, 2, &s->f[SECOND]);
    case 'f': return fraction(at, &s->f[NANOSECOND]);
    case 'B':
    case 'b':
    case 'h': return named(at, months, 12, &s->f[MONTH]);
    case 'A':
    case 'a': return named(at, weekdays, 7, &ignored);
    case 'p':
    case 'P':
        s->afternoon = lower(**at) == 'p';
        if ((lower(**at) != 'a' && !s->afternoon) || lower((*at)[1]) != 'm') return false;
        return *at += 2, true;
    case 'z': return read_offset(at, s);
    case 's': {
        bool minus = literal(at, '-');
        s->has_moment = digits(at, 1, 15, &s->moment);
        if (minus) s->moment = -s->moment;
        return s->has_moment;
    }
    case '%': return literal(at, '%');
    default: return false;
    }
}

static bool read_pattern(const char **at, const char *pattern, said *s)
{
    for (; *pattern; pattern++) {
        bool good = *pattern == '%' && pattern[1] ? read_specifier(at, *++pattern, s) : literal(at, *pattern);
        if (!good) return false;
    }
    return true;
}

static bool moment_of(const request *r, said *s, double *moment)
{
    if (s->has_moment) return *moment = (double)s->moment, true;
    if (s->twelve) s->f[HOUR] = s->f[HOUR] % 12 + (s->afternoon ? 12 : 0);
    if (s->f[YEAR] < -MOST_YEAR || s->f[YEAR] > MOST_YEAR) return false;
    if (s->ordinal > 0) {
        if (s->ordinal > 365 + is_leap(s->f[YEAR])) return false;
        int64_t days = days_since(s->f[YEAR], 1, 1) + s->ordinal - 1;
        date_of_days(days, s->f);
    }
    if (!is_date(s->f)) return false;
    int64_t seconds = seconds_of(s->f);
    seconds -= s->has_offset ? s->offset : offset_at(r, seconds, true);
    *moment = (double)seconds + (double)s->f[NANOSECOND] / 1e9;
    return true;
}

static bpl_value *moment_of_text(bpl_session *session, bpl_value *value, void *data)
{
    const request *r = data;
    char *text;
    size_t length;
    double moment = 0;
    if (value->type == BPL_ITEMS) return bpl_each_item(session, value, data, moment_of_text);
    if (value->type != BPL_CHARACTERS) return bpl_fail(session, BPL_DOMAIN, "•date reads texts or a record of fields");
    if (!bpl_to_text(session, value, "a date", &text, &length)) return NULL;
    said s = {.f = {[YEAR] = INT64_MIN, [MONTH] = 1, [DAY_OF_MONTH] = 1}};
    const char *at = text;
    bool good = strlen(text) == length && (r->pattern ? read_pattern(&at, r->pattern, &s) && !*at : read_iso(text, &s));
    if (!good || !moment_of(r, &s, &moment)) bpl_fail(session, BPL_DOMAIN, "\"%.60s\" is no date%s%.60s", text, r->pattern ? " by the pattern "
                                                      : "", r->pattern ? r->pattern : "");
    base_free(session->allocator, text, length + 1);
    return bpl_failed(session) ? NULL : bpl_float_of(session, WG_KIND_F64, moment);
}

/* ---- fields ------------------------------------------------------------------------------------------------------------------------------------------- */

/* Item i of a field: of a unit always the one. */
static bool field_at(bpl_session *session, const bpl_value *field, int64_t i, int64_t *number)
{
    bpl_value *item = bpl_rank(field) ? bpl_item(session, field, i) : bpl_keep((bpl_value *)(uintptr_t)field);
    bool read = item && bpl_to_integer(session, item, "a field of a date", number);
    bpl_release(item);
    return read;
}

/* The fields of a record (NULL where one lacks), and which of them has the shape of the result. */
static bool read_fields(bpl_session *session, const bpl_value *record, bpl_value *given[READ_FIELDS], const bpl_value **shape)
{
    *shape = NULL;
    if (!bpl_options_known(session, record, "a date", fields, FIELDS)) return false;
    for (int i = 0; i < READ_FIELDS; i++) {
        given[i] = bpl_option(session, record, fields[i]);
        if (!given[i] && bpl_failed(session)) return false;
        if (!given[i] || !bpl_rank(given[i])) continue;
        bool same = !*shape || bpl_same_shape(*shape, given[i]);
        if (!same) return bpl_fail(session, BPL_LENGTH, "the fields of a date have different shapes");
        *shape = given[i];
    }
    return given[YEAR] || bpl_fail(session, BPL_DOMAIN, "the record of a date needs a year");
}

static bpl_value *moments_of_fields(bpl_session *session, const request *r, const bpl_value *record)
{
    bpl_value *given[READ_FIELDS] = {NULL}, *result = NULL;
    const bpl_value *shape;
    double *moments = NULL;
    bool good = read_fields(session, record, given, &shape);
    int64_t volume = good && shape ? bpl_volume(shape) : 1;
    size_t bytes = (size_t)(volume + 1) * sizeof(double);
    if (good && !(moments = base_allocate(session->allocator, bytes))) good = bpl_fail_memory(session);
    for (int64_t i = 0; good && i < volume; i++) {
        said s = {.f = {[MONTH] = 1, [DAY_OF_MONTH] = 1}};
        for (int field = 0; good && field < READ_FIELDS; field++) good = !given[field] || field_at(session, given[field], i, &s.f[field]);
        good = good && (moment_of(r, &s, &moments[i]) || bpl_fail(session, BPL_DOMAIN, "these fields are no date"));
    }
    if (good) result = shape ? bpl_numbers_alike(session, shape, BPL_CLASS_FLOAT, WG_KIND_F64, moments)
        : bpl_float_of(session, WG_KIND_F64, moments[0]);
    if (moments) base_free(session->allocator, moments, bytes);
    for (int i = 0; i < READ_FIELDS; i++) bpl_release(given[i]);
    return result;
}

bpl_value *bpl_system_date(bpl_session *session, const bpl_call *call)
{
    request r;
    const bpl_axis *axis = bpl_rank(call->right) == 1 ? bpl_axis_of(call->right, 0) : NULL;
    bool good = read_request(session, call->left, &r);
    bpl_value *result = !good ? NULL : axis && axis->labels ? moments_of_fields(session, &r, call->right) : moment_of_text(session, call->right, &r);
    request_free(session, &r);
    return result;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------------------------------------ */

typedef struct broken {
    int64_t f[FIELDS], offset, moment;
} broken;

static bool break_moment(bpl_session *session, const request *r, double moment, broken *b)
{
    if (!(moment > -8e12 && moment < 8e12)) return bpl_fail(session, BPL_DOMAIN, "a moment is a number of seconds within 250,000 years of 1970");
    double whole = base_floor_f64(moment);
    b->moment = (int64_t)whole;
    b->f[NANOSECOND] = (int64_t)((moment - whole) * 1e9 + 0.5);
    if (b->f[NANOSECOND] == 1000000000) b->f[NANOSECOND] = 0, b->moment++;
    b->offset = offset_at(r, b->moment, false);
    int64_t shown = b->moment + b->offset, of_day = modulo(shown, DAY);
    date_of_days((shown - of_day) / DAY, b->f);
    b->f[HOUR] = of_day / 3600, b->f[MINUTE] = of_day / 60 % 60, b->f[SECOND] = of_day % 60;
    derive(b->f);
    return true;
}

/* A number of at least `width` digits, filled by a character. */
static void put_number(base_string *out, int64_t number, int width, char fill)
{
    char text[24];
    int at = sizeof text;
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do text[--at] = (char)('0' + left % 10);
    while (left /= 10);
    while ((int)sizeof text - at < width) text[--at] = fill;
    if (number < 0) text[--at] = '-';
    base_string_put(out, text + at, sizeof text - (size_t)at);
}

static bool put_pattern(base_string *out, const char *pattern, const broken *b);

static bool put_specifier(base_string *out, char specifier, const broken *b)
{
    const int64_t *f = b->f;
    int64_t offset = b->offset < 0 ? -b->offset : b->offset;
    const char *several = expanded(specifier), *month = months[f[MONTH] - 1], *weekday = weekdays[f[WEEKDAY] - 1];
    if (several) return put_pattern(out, several, b);
    switch (specifier) {
    case 'Y': return put_number(out, f[YEAR], 4, '0'), true;
    case 'y': return put_number(out, modulo(f[YEAR], 100), 2, '0'), true;
    case 'm': return put_number(out, f[MONTH], 2, '0'), true;
    case 'd': return put_number(out, f[DAY_OF_MONTH], 2, '0'), true;
    case 'e': return put_number(out, f[DAY_OF_MONTH], 2, ' '), true;
    case 'j': return put_number(out, f[ORDINAL], 3, '0'), true;
    case 'H': return put_number(out, f[HOUR], 2, '0'), true;
    case 'I': return put_number(out, (f[HOUR] + 11) % 12 + 1, 2, '0'), true;
    case 'M': return put_number(out, f[MINUTE], 2, '0'), true;
    case 'S': return put_number(out, f[SECOND], 2, '0'), true;
    case 'f': return put_number(out, f[NANOSECOND], 9, '0'), true;
    case 'B': return base_string_puts(out, month), true;
    case 'b':
    case 'h': return base_string_put(out, month, 3), true;
    case 'A': return base_string_puts(out, weekday), true;
    case 'a': return base_string_put(out, weekday, 3), true;
    case 'u': return put_number(out, f[WEEKDAY], 1, '0'), true;
    case 'V': return put_number(out, f[ISO_WEEK], 2, '0'), true;
    case 'p': return base_string_puts(out, f[HOUR] < 12 ? "AM" : "PM"), true;
    case 'P': return base_string_puts(out, f[HOUR] < 12 ? "am" : "pm"), true;
    case 's': return put_number(out, b->moment, 1, '0'), true;
    case 'z': return base_string_puts(out, b->offset < 0 ? "-" : "+"), put_number(out, offset / 3600 * 100 + offset / 60 % 60, 4, '0'), true;
    case '%': return base_string_puts(out, "%"), true;
    default: return false;
    }
}

static bool put_pattern(base_string *out, const char *pattern, const broken *b)
{
    for (; *pattern; pattern++) {
        if (*pattern != '%') base_string_put(out, pattern, 1);
        else if (!pattern[1] || !put_specifier(out, *++pattern, b)) return false;
    }
    return true;
}

static bool moment_at(bpl_session *session, const request *r, const bpl_value *value, int64_t i, broken *b)
{
    double moment;
    bpl_value *item = bpl_rank(value) || !value->atom ? bpl_item(session, value, i) : bpl_keep((bpl_value *)(uintptr_t)value);
    bool read = item && bpl_to_double(session, item, "a moment", &moment) && break_moment(session, r, moment, b);
    bpl_release(item);
    return read;
}

static bpl_value *text_of_moment(bpl_session *session, const request *r, const bpl_value *value, int64_t i)
{
    broken b;
    base_string out = base_string_new(session->allocator);
    bpl_value *result = NULL;
    if (!moment_at(session, r, value, i, &b)) return NULL;
    if (!put_pattern(&out, r->pattern, &b)) bpl_fail(session, BPL_DOMAIN, "the pattern \"%.60s\" of •date⁻ has a specifier that is none", r->pattern);
    else result = out.failed ? bpl_fail_memory(session) : bpl_string(session, out.text ? out.text : "", out.length);
    base_string_free(&out);
    return result;
}

static bpl_value *texts_of_moments(bpl_session *session, const request *r, const bpl_value *value)
{
    if (value->atom) return text_of_moment(session, r, value, 0);
    bpl_items *items = bpl_items_new(session, bpl_rank(value), bpl_shape(value));
    for (int64_t i = 0; items && i < items->volume; i++) {
        if ((items->at[i] = text_of_moment(session, r, value, i))) continue;
        bpl_items_free(session, items);
        return NULL;
    }
    if (items && !items->volume) items->prototype = bpl_string(session, "", 0);
    return items ? bpl_settle_keys(session, bpl_collect(session, items), bpl_keys_keep(value->keys)) : NULL;
}

/* A record of fields, each of the shape of the moments. */
static bpl_value *fields_of_moments(bpl_session *session, const request *r, const bpl_value *value)
{
    int64_t volume = bpl_volume(value);
    size_t bytes = (size_t)(volume + 1) * FIELDS * sizeof(int64_t);
    int64_t *numbers = base_allocate(session->allocator, bytes);
    bpl_value *values[FIELDS] = {NULL};
    bool good = numbers || bpl_fail_memory(session);
    for (int64_t i = 0; good && i < volume; i++) {
        broken b;
        good = moment_at(session, r, value, i, &b);
        for (int field = 0; good && field < FIELDS; field++) numbers[field * volume + i] = b.f[field];
    }
    for (int field = 0; good && field < FIELDS; field++) {
        values[field] = value->atom ? bpl_integer(session, numbers[field])
            : bpl_numbers_alike(session, value, BPL_CLASS_ORDINARY, WG_KIND_I64, numbers + field * volume);
        good = values[field];
    }
    if (numbers) base_free(session->allocator, numbers, bytes);
    return bpl_record(session, fields, values, FIELDS);
}

bpl_value *bpl_system_date_of(bpl_session *session, const bpl_call *call)
{
    request r;
    bpl_value *result = NULL;
    bool numbers = bpl_is_number(call->right);
    if (!read_request(session, call->left, &r)) return request_free(session, &r), NULL;
    if (!numbers) bpl_fail(session, BPL_DOMAIN, "•date⁻ takes moments, numbers of seconds since 1970");
    else result = r.pattern ? texts_of_moments(session, &r, call->right) : fields_of_moments(session, &r, call->right);
    request_free(session, &r);
    return result;
}
