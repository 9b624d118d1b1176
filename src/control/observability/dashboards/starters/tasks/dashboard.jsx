/** Tasks, or a world: how its sessions were graded, over time and by task, and how long they took. */
import {
  data,
  duration,
  Figure,
  Figures,
  Grid,
  Head,
  Id,
  Mark,
  Nothing,
  openSession,
  Section,
  Table,
  Time,
} from 'svc/dashboard';
import { Durations, OverTime, PassRates } from './charts.jsx';

const tones = { pass: 'good', fail: 'bad' };

/** Sessions by the task that they were opened on, with what came of them. */
const tasksOf = ({ tasks, sessions }) => {
  const named = new Map(
    tasks.map(({ id, name }) => [id, { key: id, name: name ?? id, sessions: [] }]),
  );
  for (const session of sessions) {
    const key = session.taskId ?? session.task ?? 'without a task';
    if (!named.has(key)) named.set(key, { key, name: session.task ?? key, sessions: [] });
    named.get(key).sessions.push(session);
  }
  return [...named.values()].map((task) => {
    const judged = task.sessions.filter(({ verdict }) => verdict === 'pass' || verdict === 'fail');
    const passed = judged.filter(({ verdict }) => verdict === 'pass').length;
    const rate = judged.length === 0 ? null : passed / judged.length;
    return { ...task, judged: judged.length, passed, rate };
  });
};

const lastedMs = ({ createdAt, closedAt }) =>
  closedAt === null ? null : new Date(closedAt) - new Date(createdAt);
const percent = (rate) => (rate === null ? '–' : `${Math.round(rate * 100)} %`);

const middleOf = (numbers) => {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted.length === 0 ? null : sorted[Math.floor(sorted.length / 2)];
};

const linkStyle = { padding: 0, border: 0, background: 'none', color: 'var(--accent)' };

/** Leads to the page of a session. */
const SessionLink = ({ id }) => (
  <button type="button" style={linkStyle} onClick={() => openSession(id)}>
    {id}
  </button>
);

export default function Dashboard() {
  const sessions = data.sessions.map((session) => ({ ...session, lastedMs: lastedMs(session) }));
  const tasks = tasksOf({ tasks: data.tasks, sessions });
  const judged = tasks.reduce((sum, task) => sum + task.judged, 0);
  const passed = tasks.reduce((sum, task) => sum + task.passed, 0);
  const middle = middleOf(sessions.flatMap((session) => session.lastedMs ?? []));
  const calls = middleOf(sessions.map((session) => session.calls));
  const rate = judged === 0 ? null : passed / judged;
  const title = data.taskSet?.name ?? data.world?.slug;
  return (
    <>
      <Head title={title}>
        {data.taskSet?.description ? <span>{data.taskSet.description}</span> : null}
        <Id>{data.taskSet?.id ?? data.world?.id}</Id>
      </Head>
      <Figures>
        <Figure label="Pass rate" value={percent(rate)} note={`${passed} of ${judged}`} />
        <Figure label="Tasks" value={tasks.length} />
        <Figure
          label="Sessions"
          value={sessions.length}
          note={data.hasMoreSessions ? 'the newest' : undefined}
        />
        <Figure label="Not graded" value={sessions.length - judged} />
        <Figure label="Median duration" value={middle === null ? '–' : duration(middle)} />
        <Figure label="Median calls" value={calls ?? '–'} />
      </Figures>
      <Grid>
        <Section title="Sessions over time" note="by verdict" wide>
          {sessions.length === 0 ? (
            <Nothing>No session was opened yet.</Nothing>
          ) : (
            <OverTime sessions={sessions} />
          )}
        </Section>
        <Section title="Pass rate by task">
          {judged === 0 ? (
            <Nothing>No session was judged yet.</Nothing>
          ) : (
            <PassRates tasks={tasks} />
          )}
        </Section>
        <Section title="How long sessions took" note="each a dot, which leads to it">
          {middle === null ? (
            <Nothing>No session has ended yet.</Nothing>
          ) : (
            <Durations sessions={sessions} />
          )}
        </Section>
        <Section title="Tasks" note={String(tasks.length)} wide>
          <Table
            rows={tasks}
            keyOf={({ key }) => key}
            columns={[
              { title: 'task', value: ({ name }) => name },
              { title: 'sessions', value: (task) => task.sessions.length, right: true },
              { title: 'judged', value: (task) => task.judged, right: true },
              { title: 'passed', value: (task) => task.passed, right: true },
              { title: 'pass rate', value: (task) => percent(task.rate), right: true },
            ]}
          />
        </Section>
        <Section title="Sessions" note={String(sessions.length)} wide>
          <Table
            rows={sessions}
            most={20}
            keyOf={({ id }) => id}
            columns={[
              { title: 'session', value: ({ id }) => <SessionLink id={id} /> },
              { title: 'task', value: ({ task }) => task ?? '' },
              {
                title: 'verdict',
                value: ({ verdict }) => (
                  <Mark tone={tones[verdict] ?? 'plain'}>{verdict ?? 'not graded'}</Mark>
                ),
              },
              {
                title: 'score',
                value: ({ score }) => (score === null ? '' : score.toFixed(2)),
                right: true,
              },
              { title: 'calls', value: (session) => session.calls, right: true },
              {
                title: 'lasted',
                value: (session) => (session.lastedMs === null ? '' : duration(session.lastedMs)),
                right: true,
              },
              { title: 'opened', value: ({ createdAt }) => <Time at={createdAt} />, right: true },
            ]}
          />
        </Section>
      </Grid>
    </>
  );
}
