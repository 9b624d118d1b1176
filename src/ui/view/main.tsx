/** Live view page: shows the picture of a session's browser and sends the user's input. */
import { type Dispatch, useEffect, useMemo, useReducer, useRef } from 'react';
import { createRoot } from 'react-dom/client';
import type { ViewInput, ViewMessage, ViewTab } from '#wire/live-view/messages.ts';
import { Announcer, useAnnounce } from '../pieces/announce.tsx';
import { Empty, Loading } from '../pieces/states.tsx';
import { applyTheme } from '../pieces/theme.tsx';
import { type Connection, type ConnectionState, connect } from './connection.ts';
import { Head } from './head.tsx';
import { type Asked, Question } from './question.tsx';
import { type FrameSink, Screen } from './screen.tsx';

type View = {
  connectionState: ConnectionState;
  isReadOnly: boolean;
  hasPicture: boolean;
  tabs: readonly ViewTab[];
  shown: string | null;
  asked: Asked | undefined;
};

const nothing: View = {
  connectionState: { is: 'connecting' },
  isReadOnly: true,
  hasPicture: false,
  tabs: [],
  shown: null,
  asked: undefined,
};

type Change =
  | ViewMessage
  | { type: 'connectionState'; connectionState: ConnectionState }
  | { type: 'picture' };

const change = (view: View, news: Change): View => {
  switch (news.type) {
    case 'hello':
      return { ...view, isReadOnly: news.isReadOnly };
    case 'tabs':
      return { ...view, tabs: news.tabs, shown: news.shown };
    case 'dialog':
      return { ...view, asked: news };
    case 'dialog_gone':
      return { ...view, asked: undefined };
    case 'connectionState':
      // A dialog ended with its browser.
      return { ...view, connectionState: news.connectionState, asked: undefined };
    case 'picture':
      return view.hasPicture ? view : { ...view, hasPicture: true };
    default:
      return view;
  }
};

const copy = async (text: string): Promise<string> => {
  try {
    await navigator.clipboard.writeText(text);
    return text === '' ? 'Nothing is selected.' : 'Copied.';
  } catch {
    return 'This page may not write to the clipboard; allow it in your browser.';
  }
};

/** Connects for as long as the page is open. */
const useConnection = (
  sink: FrameSink,
  dispatch: Dispatch<Change>,
): ((input: ViewInput) => void) => {
  const connection = useRef<Connection>(undefined);
  const announce = useAnnounce();
  useEffect(() => {
    const opened = connect({
      onNews(news) {
        if (news.type === 'clipboard') void copy(news.text).then(announce);
        else if (news.type === 'refused') announce(`Not done: ${news.why}.`);
        else dispatch(news);
      },
      onFrame(size, picture) {
        sink.draw({ size, picture }).then(
          () => dispatch({ type: 'picture' }),
          () => undefined, // a later picture replaces one that cannot be decoded
        );
      },
      onState: (connectionState) => dispatch({ type: 'connectionState', connectionState }),
    });
    connection.current = opened;
    return () => opened.close();
  }, [sink, dispatch, announce]);
  return useMemo(() => (input) => connection.current?.send(input), []);
};

/** Shows a message over the picture, or in its place. */
const Over = ({ connectionState, hasPicture }: Pick<View, 'connectionState' | 'hasPicture'>) => {
  if (connectionState.is === 'away') {
    return (
      <div className="state" role="status">
        <span className="spinner" aria-hidden="true" />
        <p className="state-title">{connectionState.why}</p>
        <p>What was open comes back as it was.</p>
      </div>
    );
  }
  if (connectionState.is === 'waiting') {
    return (
      <div className="state" role="status">
        <span className="spinner" aria-hidden="true" />
        <p className="state-title">The browser is not ready yet.</p>
        <p>It is starting, or its first page is loading.</p>
      </div>
    );
  }
  if (connectionState.is === 'connecting') return <Loading what="the connection to the browser" />;
  return hasPicture ? null : <Loading what="the first picture" />;
};

const LiveView = () => {
  const sink = useMemo((): FrameSink => ({ draw: async () => undefined }), []);
  const [view, dispatch] = useReducer(change, nothing);
  const send = useConnection(sink, dispatch);
  const { connectionState, isReadOnly, hasPicture, tabs, shown, asked } = view;
  const isOpen = connectionState.is === 'open';
  const title = tabs.find(({ id }) => id === shown)?.title;
  useEffect(() => {
    document.title = title || 'Browser of the session';
  }, [title]);
  if (connectionState.is === 'over') {
    return (
      <main className="live-view bare">
        <Empty title={connectionState.why}>
          <p>{connectionState.next}</p>
        </Empty>
      </main>
    );
  }
  return (
    <div className="live-view">
      <Head tabs={tabs} shown={shown} isReadOnly={isReadOnly} isOff={!isOpen} send={send} />
      <main className="stage">
        <Screen sink={sink} isReadOnly={isReadOnly} isDimmed={!isOpen} send={send} />
        <div className="over">
          <Over connectionState={connectionState} hasPicture={hasPicture} />
        </div>
      </main>
      {asked === undefined || isReadOnly ? null : <Question asked={asked} answer={send} />}
    </div>
  );
};

/** Page for a viewer who is not given access. */
const Refused = ({ why }: { why: string }) => (
  <main className="live-view bare">
    <Empty title={why} />
  </main>
);

const element = document.getElementById('app');
if (element !== null) {
  applyTheme();
  const { refused } = element.dataset;
  createRoot(element).render(
    refused === undefined ? (
      <Announcer>
        <LiveView />
      </Announcer>
    ) : (
      <Refused why={refused} />
    ),
  );
}
