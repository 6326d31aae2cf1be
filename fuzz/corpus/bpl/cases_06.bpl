⍴⍬
×0j2
0.3=0.1+0.2
m←3 4⍴⍳12 ⋄ m.[⍳2 ¯1]
-@ 1 0 1# 1 2 3
n←2 2 3⍴⍳6 ⋄ +/⍠0 2 n
1 2 +⍥≢ 3 4 5
•signal "unknown"
coin←2 0.5 •distribution "binomial" ⋄ coin.density 0 1 2
⌽⍠"j"⊢(["i":2 "j":3]⍴0 0 ¯5 6 8)
0○0.5
{¯1}∂¯1.5
