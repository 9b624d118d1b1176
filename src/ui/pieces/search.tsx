/** Search input of a list. The search is sent on Enter, not on each key, because the vendor limits searches. */
import { useEffect, useRef, useState } from 'react';
import { useSlash } from './slash.ts';

type SearchProps = { label: string; value: string; onSearch: (text: string) => void };

export const SearchBox = ({ label, value, onSearch }: SearchProps) => {
  const [text, setText] = useState(value);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => setText(value), [value]);
  useSlash(input);
  return (
    <search>
      <form
        className="search-box"
        onSubmit={(event) => {
          event.preventDefault();
          onSearch(text.trim());
        }}
      >
        <input
          ref={input}
          type="search"
          value={text}
          aria-label={label}
          placeholder={`${label} ( / )`}
          maxLength={200}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return;
            event.preventDefault();
            if (text === '') input.current?.blur();
            setText('');
          }}
        />
        <button type="submit">Search</button>
      </form>
    </search>
  );
};
