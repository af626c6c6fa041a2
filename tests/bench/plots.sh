#!/bin/sh
# Draws the plots of README.md from what the bench printed with --json:
#
#   tests/bench/plots.sh JSON FOLDER    needs sqlite3, gnuplot and $B/bloom.so
#   tests/bench/plots.sh --test JSON    the same in a folder that is removed; TAP
#
# probes.svg   time a probed row against the filter's size: scan alone, filter, index
# rates.svg    false-positive rate when more keys come than a filter was made for
# matches.svg  how many times faster a join is, against the percentage of rows that match
set -eu
B=${B-build}
testing=
if [ "$1" = --test ]; then
  testing=yes json=$2 folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
else
  json=$1 folder=$2
fi
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work" ${testing:+"$folder"}' EXIT

# A curve is a file of two columns.
sqlite3 -batch -bail :memory: <<SQL
.load $B/bloom
.mode list
.separator "\\t"
CREATE TABLE figure AS
  SELECT value ->> 'figure' AS name, value ->> 'n' AS n, value ->> 'ns' AS ns,
         value ->> 'floor_ns' AS floor, value ->> 'ratio' AS ratio, value ->> 'value' AS value
  FROM json_each(readfile('$json')) WHERE value ->> 'verdict' IN ('ok', '-', 'OVER');
.once $work/scan
SELECT bloom_size(n, 0.01), floor FROM figure
WHERE name LIKE 'bloom_contains, bound, absent text, %B' ORDER BY 1;
.once $work/filter
SELECT bloom_size(n, 0.01), ns FROM figure
WHERE name LIKE 'bloom_contains, bound, absent text, %B' ORDER BY 1;
.once $work/index
SELECT bloom_size(n, 0.01), ns FROM figure WHERE name LIKE 'rival: EXISTS in an index%' ORDER BY 1;
.once $work/built
SELECT CAST(substr(name, instr(name, 'load ') + 5) AS REAL), value FROM figure
WHERE name LIKE 'rate: built, load %' AND value > 0 ORDER BY 1;
.once $work/table
SELECT CAST(substr(name, instr(name, 'load ') + 5) AS REAL), value FROM figure
WHERE name LIKE 'rate: table, load %' AND value > 0 ORDER BY 1;
.once $work/fixed
SELECT CAST(substr(name, instr(name, 'load ') + 5) AS REAL), value FROM figure
WHERE name LIKE 'rate: fixed, load %' AND value > 0 ORDER BY 1;
.once $work/matches
SELECT CAST(substr(name, 8) AS INTEGER), 1 / ratio FROM figure
WHERE name LIKE 'query: % \\% match' ESCAPE '\\' ORDER BY 1;
SQL

gnuplot <<PLOT
set terminal svg size 640,400 font "sans-serif,13" background "white"
set grid lc rgb "#dddddd"
set border 3
set tics nomirror
set key top left
set logscale y
set linetype 1 lw 2 pt 7 ps 0.5 lc rgb "#888888"
set linetype 2 lw 2 pt 7 ps 0.5 lc rgb "#1f77b4"
set linetype 3 lw 2 pt 7 ps 0.5 lc rgb "#d62728"
set linetype 4 lw 1 dt 2 lc rgb "#444444"

set output "$folder/probes.svg"
set logscale x
set format x "%.0s %cB"
set yrange [10:40000]
set xlabel "size of the filter, p = 0.01"
set ylabel "ns a row, absent text keys"
plot "$work/scan" with linespoints lt 1 title "scan alone: length(key)", \
     "$work/filter" with linespoints lt 2 title "bloom\\\\_contains, bound", \
     "$work/index" with linespoints lt 3 title "EXISTS in an index of the same keys"

set output "$folder/rates.svg"
set format x "%g"
set xlabel "keys that came, in multiples of n"
set ylabel "false-positive rate"
set xrange [0.25:64]
set yrange [1e-4:1]
set key bottom right
plot "$work/built" with linespoints lt 2 title "bloom\\\\_build", \
     "$work/table" with linespoints lt 1 title "bloom table, keys inserted", \
     "$work/fixed" with linespoints lt 3 title "a filter that does not grow", \
     0.01 with lines lt 4 title "p, promised for a build", \
     0.02 with lines lt 4 dt 3 title "2p, promised for a table"

set output "$folder/matches.svg"
unset logscale x
set autoscale x
set yrange [0.5:25]
set ytics (0.5, 1, 2, 5, 10, 20)
set format x "%g %%"
set xlabel "probed rows that match"
set ylabel "times faster than the plain join"
set key top right
plot "$work/matches" with linespoints lt 2 title "join of text keys with a bound filter", \
     1 with lines lt 4 notitle
PLOT

[ "$testing" ] || exit 0
test_plot() { # NAME CURVES: drawn, with that many data curves
  curves=$(grep -c 'id="gnuplot_plot_' "$folder/$1.svg")
  if [ "$curves" = "$2" ]; then
    echo "ok plots: $1.svg"
  else
    echo "not ok plots: $1.svg has $curves curves, not $2"
  fi
}
test_curve() { # NAME POINTS: at least so many, each of two numbers above 0
  points=$(awk -F '\t' 'NF == 2 && $2 > 0 { n++ } END { print n + 0 }' "$work/$1")
  if [ "$points" -ge "$2" ]; then
    echo "ok plots: $points points of $1"
  else
    echo "not ok plots: $points points of $1, not $2"
  fi
}
test_plot probes 3
test_plot rates 5
test_plot matches 2
for curve in scan filter; do test_curve $curve 6; done
test_curve index 5
test_curve built 7
for curve in table fixed matches; do test_curve $curve 7; done
