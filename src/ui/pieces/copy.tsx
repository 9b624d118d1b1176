/** Shows an id. A click copies the id. */
import { useAnnounce } from './announce.tsx';

/** Copies a text by selecting it. Pages that are not served over TLS have no clipboard API. */
const copyBySelection = (text: string): boolean => {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'off-screen';
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  return isCopied;
};

const copy = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
};

/** Properties of the button. `shown` is the displayed part of the text. */
type CopyProps = { text: string; shown?: string; tabIndex?: number };

export const CopyText = ({ text, shown = text, tabIndex = 0 }: CopyProps) => {
  const announce = useAnnounce();
  return (
    <button
      type="button"
      className="copy"
      title="Copy"
      aria-label={`Copy ${shown}`}
      tabIndex={tabIndex}
      onClick={async (event) => {
        event.stopPropagation();
        const isCopied = await copy(text);
        announce(isCopied ? `Copied ${text}` : 'This browser does not let the page copy.');
      }}
    >
      {shown}
    </button>
  );
};
