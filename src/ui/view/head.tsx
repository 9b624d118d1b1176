/** Browser controls above the page: tabs, history and the address. */
import { type FormEvent, useEffect, useState } from 'react';
import type { ViewInput, ViewTab } from '#wire/live-view/messages.ts';

type Send = (input: ViewInput) => void;

type TabProps = { tab: ViewTab; isShown: boolean; isReadOnly: boolean; send: Send };

/**
 * Shows a tab. The keyboard closes it with Delete: a tab list may contain only tabs, so the close button is for the
 * mouse alone.
 */
const Tab = ({ tab: { id, title, url }, isShown, isReadOnly, send }: TabProps) => (
  <div className={isShown ? 'tab shown' : 'tab'} role="presentation">
    <button
      type="button"
      role="tab"
      aria-selected={isShown}
      aria-keyshortcuts="Delete"
      title={url}
      disabled={isReadOnly}
      onClick={() => send({ type: 'show', tab: id })}
      onKeyDown={({ key }) => {
        if (key === 'Delete') send({ type: 'close', tab: id });
      }}
    >
      {title || url || 'Empty tab'}
    </button>
    {isReadOnly ? null : (
      <button
        type="button"
        className="icon"
        aria-hidden="true"
        tabIndex={-1}
        title="Close (Delete)"
        onClick={() => send({ type: 'close', tab: id })}
      >
        ×
      </button>
    )}
  </div>
);

const moves = [
  ['back', 'Back', '←'],
  ['forward', 'Forward', '→'],
  ['reload', 'Reload', '↻'],
] as const;

type BarProps = { url: string; isReadOnly: boolean; isOff: boolean; send: Send };

const Bar = ({ url, isReadOnly, isOff, send }: BarProps) => {
  const [typed, setTyped] = useState<string>();
  // The browser's current address is shown, unless the user is typing.
  const [shown, setShown] = useState(url);
  useEffect(() => setShown(url), [url]);
  const go = (event: FormEvent): void => {
    event.preventDefault();
    send({ type: 'go', to: (typed ?? shown).trim() });
    setTyped(undefined);
    document.querySelector<HTMLElement>('.surface')?.focus();
  };
  return (
    <form className="address-bar" onSubmit={go}>
      {(isReadOnly ? [] : moves).map(([to, label, sign]) => (
        <button
          key={to}
          type="button"
          className="icon"
          aria-label={label}
          title={label}
          disabled={isOff}
          onClick={() => send({ type: 'go', to })}
        >
          {sign}
        </button>
      ))}
      <input
        aria-label="Address"
        spellCheck={false}
        autoComplete="off"
        readOnly={isReadOnly}
        disabled={isOff}
        value={typed ?? shown}
        onChange={({ target }) => setTyped(target.value)}
        onBlur={() => setTyped(undefined)}
      />
      {isReadOnly ? (
        <span className="flag">Read-only</span>
      ) : (
        <button
          type="button"
          className="icon"
          aria-label="New tab"
          title="New tab"
          disabled={isOff}
          onClick={() => send({ type: 'open' })}
        >
          +
        </button>
      )}
    </form>
  );
};

type HeadProps = {
  tabs: readonly ViewTab[];
  shown: string | null;
  isReadOnly: boolean;
  /** True if there is no browser to control. */
  isOff: boolean;
  send: Send;
};

export const Head = ({ tabs, shown, isReadOnly, isOff, send }: HeadProps) => {
  const current = tabs.find(({ id }) => id === shown);
  return (
    <header className="head">
      <div className="tabs" role="tablist" aria-label="Tabs">
        {tabs.map((tab) => (
          <Tab
            key={tab.id}
            tab={tab}
            isShown={tab.id === shown}
            isReadOnly={isReadOnly || isOff}
            send={send}
          />
        ))}
      </div>
      <Bar url={current?.url ?? ''} isReadOnly={isReadOnly} isOff={isOff} send={send} />
    </header>
  );
};
