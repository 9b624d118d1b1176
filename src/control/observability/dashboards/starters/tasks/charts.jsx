/** The charts of tasks. */
import * as Plot from '@observablehq/plot';
import { useMemo } from 'react';
import { Chart, colours, duration, openSession } from 'svc/dashboard';

const verdicts = ['pass', 'fail', 'unknown', 'not graded'];
const verdictColours = [colours.good, colours.bad, colours.unknown, colours.soft];
const verdictOf = ({ verdict }) => verdict ?? 'not graded';
const whole = (n) => (Number.isInteger(n) ? String(n) : '');
const short = (name) => (name.length > 22 ? `${name.slice(0, 21)}…` : name);

const legendOf = (sessions) => {
  const present = verdicts.filter((verdict) =>
    sessions.some((session) => verdictOf(session) === verdict),
  );
  return {
    domain: present,
    range: present.map((one) => verdictColours[verdicts.indexOf(one)]),
    legend: true,
  };
};

/** How many sessions were opened, and what came of them. */
export function OverTime({ sessions }) {
  const options = useMemo(
    () => ({
      height: 190,
      color: legendOf(sessions),
      x: { type: 'time', label: null },
      y: { label: null, grid: true, ticks: 4, tickFormat: whole },
      marks: [
        Plot.rectY(
          sessions,
          Plot.binX(
            { y: 'count' },
            { x: ({ createdAt }) => new Date(createdAt), fill: verdictOf, thresholds: 40 },
          ),
        ),
        Plot.ruleY([0], { stroke: 'var(--line-strong)' }),
      ],
    }),
    [sessions],
  );
  return <Chart options={options} label={`${sessions.length} sessions over time, by verdict`} />;
}

const mostTasks = 20;

/** The worst first: they are what one looks for. */
export function PassRates({ tasks }) {
  const options = useMemo(() => {
    const rows = tasks
      .filter(({ rate }) => rate !== null)
      .toSorted((a, b) => a.rate - b.rate)
      .slice(0, mostTasks);
    return {
      height: 44 + rows.length * 26,
      marginLeft: 150,
      marginRight: 44,
      x: {
        label: null,
        domain: [0, 1],
        grid: true,
        ticks: 4,
        tickFormat: (rate) => `${Math.round(rate * 100)} %`,
      },
      y: { label: null, domain: rows.map(({ name }) => name), tickSize: 0, tickFormat: short },
      marks: [
        Plot.barX(rows, {
          x: 'rate',
          y: 'name',
          fill: colours.accent,
          insetTop: 3,
          insetBottom: 3,
        }),
        Plot.text(rows, {
          ...{ x: 'rate', y: 'name', textAnchor: 'start', dx: 5 },
          text: ({ passed, judged }) => `${passed}/${judged}`,
        }),
        Plot.ruleX([0], { stroke: 'var(--line-strong)' }),
      ],
    };
  }, [tasks]);
  return <Chart options={options} label="The share of judged sessions that passed, by task" />;
}

/** Draws dots that lead to their sessions by a click; the table of sessions is there for keys. */
const leadingTo = (sessions) => (index, scales, channels, dimensions, context, next) => {
  const dots = next(index, scales, channels, dimensions, context);
  dots.style.cursor = 'pointer';
  // Plot notes on each dot its place in the data.
  dots.addEventListener('click', ({ target }) => openSession(sessions[target.__data__].id));
  return dots;
};

/** Length of each session that has ended, against the calls that it took. */
export function Durations({ sessions }) {
  const ended = useMemo(() => sessions.filter(({ lastedMs }) => lastedMs !== null), [sessions]);
  const options = useMemo(() => {
    return {
      height: 260,
      marginLeft: 84,
      color: legendOf(ended),
      x: { label: 'calls', grid: true, ticks: 5, tickFormat: whole },
      y: { label: null, grid: true, ticks: 5, tickFormat: duration },
      marks: [
        Plot.dot(ended, {
          ...{ x: 'calls', y: 'lastedMs', r: 4, fill: verdictOf, fillOpacity: 0.75 },
          title: ({ id, task, lastedMs }) => `${task ?? id}: ${duration(lastedMs)}`,
          render: leadingTo(ended),
        }),
      ],
    };
  }, [ended]);
  return <Chart options={options} label="How long sessions took, and how many calls" />;
}
