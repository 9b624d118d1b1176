/** The charts of a session. */
import * as Plot from '@observablehq/plot';
import { useMemo } from 'react';
import { Chart, colours, duration } from 'svc/dashboard';

const countBy = (rows, keyOf) => {
  const counts = new Map();
  for (const row of rows) counts.set(keyOf(row), (counts.get(keyOf(row)) ?? 0) + 1);
  return [...counts].map(([key, count]) => ({ key, count })).toSorted((a, b) => b.count - a.count);
};

const colourOf = ({ state }) => (state === 'failed' ? colours.bad : colours.accent);

/** One bar a call. */
export function CallTimes({ calls }) {
  const options = useMemo(
    () => ({
      height: 200,
      marginLeft: 56,
      marginBottom: 32,
      x: { label: 'call', tickFormat: (seq) => (Number.isInteger(seq) ? String(seq) : '') },
      y: { label: null, grid: true, tickFormat: duration, ticks: 4 },
      marks: [
        Plot.rectY(calls, {
          x1: ({ seq }) => seq - 0.4,
          x2: ({ seq }) => seq + 0.4,
          y: ({ tookMs }) => tookMs ?? 0,
          fill: colourOf,
          title: ({ name, tookMs }) =>
            `${name}: ${tookMs === null ? 'not answered' : duration(tookMs)}`,
        }),
        Plot.ruleY([0], { stroke: 'var(--line-strong)' }),
      ],
    }),
    [calls],
  );
  return <Chart options={options} label={`How long each of ${calls.length} calls took`} />;
}

/** How often each tool was called, and what failed of it. */
export function Kinds({ calls }) {
  const options = useMemo(() => {
    const names = countBy(calls, ({ name }) => name)
      .slice(0, 12)
      .map(({ key }) => key);
    const shown = calls.filter(({ name }) => names.includes(name));
    return {
      height: 40 + names.length * 26,
      marginLeft: 150,
      x: {
        label: null,
        grid: true,
        ticks: 4,
        tickFormat: (n) => (Number.isInteger(n) ? String(n) : ''),
      },
      y: {
        label: null,
        domain: names,
        tickSize: 0,
        tickFormat: (name) => (name.length > 22 ? `${name.slice(0, 21)}…` : name),
      },
      marks: [
        Plot.barX(
          shown,
          Plot.groupY(
            { x: 'count' },
            { y: 'name', fill: colourOf, sort: null, insetTop: 3, insetBottom: 3 },
          ),
        ),
        Plot.ruleX([0], { stroke: 'var(--line-strong)' }),
      ],
    };
  }, [calls]);
  return <Chart options={options} label="How often each tool was called" />;
}

const kinds = ['inserted', 'updated', 'deleted'];
const kindColours = [colours.good, colours.accent, colours.bad];

/** Rows that were inserted, updated and deleted. */
export function ChangedRows({ changes }) {
  const options = useMemo(() => {
    const entities = [...new Set(changes.map(({ entity }) => entity))];
    return {
      height: 70 + entities.length * 26,
      marginLeft: 150,
      color: { domain: kinds, range: kindColours, legend: true },
      x: {
        label: null,
        grid: true,
        ticks: 4,
        tickFormat: (n) => (Number.isInteger(n) ? String(n) : ''),
      },
      y: {
        label: null,
        domain: entities,
        tickSize: 0,
        tickFormat: (name) => (name.length > 22 ? `${name.slice(0, 21)}…` : name),
      },
      marks: [
        Plot.barX(
          changes,
          Plot.stackX({
            x: 'rows',
            y: 'entity',
            fill: 'kind',
            order: kinds,
            insetTop: 3,
            insetBottom: 3,
          }),
        ),
        Plot.ruleX([0], { stroke: 'var(--line-strong)' }),
      ],
    };
  }, [changes]);
  return <Chart options={options} label="Rows changed, by entity" />;
}

const classes = ['2xx', '3xx', '4xx', '5xx', 'none'];
const classColours = [colours.good, colours.accent, colours.unknown, colours.bad, colours.soft];
const classOf = (status) => (status === null ? 'none' : `${Math.floor(status / 100)}xx`);

/** Requests in the order of time. */
export function Requests({ requests }) {
  const options = useMemo(() => {
    const rows = requests.map(({ at, status }) => ({ at: new Date(at), class: classOf(status) }));
    const present = classes.filter((one) => rows.some((row) => row.class === one));
    return {
      height: 170,
      color: {
        domain: present,
        range: present.map((one) => classColours[classes.indexOf(one)]),
        legend: true,
      },
      x: { type: 'time', label: null },
      y: {
        label: null,
        grid: true,
        ticks: 4,
        tickFormat: (n) => (Number.isInteger(n) ? String(n) : ''),
      },
      marks: [
        Plot.rectY(rows, Plot.binX({ y: 'count' }, { x: 'at', fill: 'class', thresholds: 40 })),
        Plot.ruleY([0], { stroke: 'var(--line-strong)' }),
      ],
    };
  }, [requests]);
  return <Chart options={options} label={`${requests.length} requests over time, by status`} />;
}
