/** Announces a finished action: the text is shown briefly, and read by screen readers. */
import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from 'react';

const shownMs = 4_000;

const Announce = createContext<(words: string) => void>(() => undefined);

export const useAnnounce = () => useContext(Announce);

type Said = { words: string; at: number };

export const Announcer = ({ children }: { children: ReactNode }) => {
  const [said, setSaid] = useState<Said>();
  const announce = useCallback((words: string) => setSaid({ words, at: performance.now() }), []);
  useEffect(() => {
    if (said === undefined) return;
    const timer = setTimeout(() => setSaid(undefined), shownMs);
    return () => clearTimeout(timer);
  }, [said]);
  return (
    <Announce value={announce}>
      {children}
      <div className="announcer" role="status" aria-live="polite">
        {said === undefined ? null : <span key={said.at}>{said.words}</span>}
      </div>
    </Announce>
  );
};
