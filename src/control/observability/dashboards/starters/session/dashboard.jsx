/** A session: how it was graded, what was called and how long that took, and what it changed. */
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
  Section,
  Table,
  Time,
} from 'svc/dashboard';
import { CallTimes, ChangedRows, Kinds, Requests } from './charts.jsx';

const tones = { pass: 'good', fail: 'bad' };
const toneOf = (verdict) => tones[verdict] ?? 'plain';

const Checks = ({ checks }) => (
  <Table
    rows={checks}
    keyOf={({ name }, index) => `${index} ${name}`}
    columns={[
      { title: 'check', value: ({ name }) => name },
      { title: '', value: ({ verdict }) => <Mark tone={toneOf(verdict)}>{verdict}</Mark> },
      { title: 'found', value: ({ found, detail }) => detail ?? found ?? '' },
    ]}
  />
);

const Calls = ({ calls }) => (
  <Table
    rows={calls}
    keyOf={({ seq }) => seq}
    columns={[
      { title: '#', value: ({ seq }) => seq, right: true },
      { title: 'call', value: ({ name }) => <code>{name}</code> },
      {
        title: '',
        value: ({ state }) => <Mark tone={state === 'failed' ? 'bad' : 'plain'}>{state}</Mark>,
      },
      { title: 'rows changed', value: ({ changed }) => changed || '', right: true },
      {
        title: 'took',
        value: ({ tookMs }) => (tookMs === null ? '' : duration(tookMs)),
        right: true,
      },
      { title: 'error', value: ({ error }) => error ?? '' },
    ]}
  />
);

/** `API 5 · page 3`, of the ways by which requests came, or by which rows were changed. */
const listWays = (ways, what) =>
  ways
    .filter((way) => way[what] > 0 && (what === 'rows' || way.way !== 'tools'))
    .map((way) => `${way.way} ${way[what]}`)
    .join(' · ') || undefined;

export default function Dashboard() {
  const { session, grade, calls, harness, changes, deliveries, requests, ways } = data;
  const times = calls.flatMap(({ tookMs }) => (tookMs === null ? [] : [tookMs]));
  const failed = calls.filter(({ state }) => state === 'failed').length;
  const slowest = times.length === 0 ? null : Math.max(...times);
  return (
    <>
      <Head title={session.task ?? 'Session without a task'}>
        <span>{session.world}</span>
        <Id>{session.id}</Id>
        <Time at={session.createdAt} />
        <Mark>{session.state.toLowerCase()}</Mark>
      </Head>
      <Figures>
        <Figure
          label="Verdict"
          value={grade?.verdict ?? 'not graded'}
          tone={toneOf(grade?.verdict)}
        />
        <Figure label="Score" value={grade?.score == null ? '–' : grade.score.toFixed(2)} />
        <Figure
          label="Tool calls"
          value={calls.length}
          note={failed > 0 ? `${failed} failed` : undefined}
        />
        <Figure label="Slowest call" value={slowest === null ? '–' : duration(slowest)} />
        <Figure label="Requests" value={requests.length} note={listWays(ways, 'count')} />
        <Figure
          label="Rows changed"
          value={changes.reduce((sum, { rows }) => sum + rows, 0)}
          note={listWays(ways, 'rows')}
        />
        <Figure
          label="Duration"
          value={session.lastedMs === null ? 'still open' : duration(session.lastedMs)}
        />
      </Figures>
      <Grid>
        <Section title="Calls in their order" note="how long each took" wide>
          {calls.length === 0 ? (
            <Nothing>Nothing was called yet.</Nothing>
          ) : (
            <CallTimes calls={calls} />
          )}
        </Section>
        <Section title="What was called">
          {calls.length === 0 ? (
            <Nothing>Nothing was called yet.</Nothing>
          ) : (
            <Kinds calls={calls} />
          )}
        </Section>
        <Section title="Rows changed" note="by entity">
          {changes.length === 0 ? (
            <Nothing>Neither a call nor a request changed a row.</Nothing>
          ) : (
            <ChangedRows changes={changes} />
          )}
        </Section>
        {requests.length === 0 ? null : (
          <Section title="Requests over time" note="by their status" wide>
            <Requests requests={requests} />
          </Section>
        )}
        <Section title="Checks" note={grade === null ? undefined : `${grade.checks.length}`} wide>
          {grade === null || grade.checks.length === 0 ? (
            <Nothing>It was not graded: “svc worlds session grade” does it.</Nothing>
          ) : (
            <Checks checks={grade.checks} />
          )}
        </Section>
        <Section title="Calls" note={String(calls.length)} wide>
          {calls.length === 0 ? (
            <Nothing>Nothing was called yet.</Nothing>
          ) : (
            <Calls calls={calls} />
          )}
        </Section>
        {harness.length === 0 && deliveries === 0 ? null : (
          <Section title="Asked by the harness" note="counted in nothing above" wide>
            {deliveries === 0 ? null : <p>{deliveries} deliveries to webhooks</p>}
            {harness.length === 0 ? null : <Calls calls={harness} />}
          </Section>
        )}
      </Grid>
    </>
  );
}
