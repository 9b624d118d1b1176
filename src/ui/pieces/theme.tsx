/** Theme of the page: that of the system, unless the user chose light or dark in this browser. */
import { useState } from 'react';

const name = 'svc-theme';
const themes = { system: 'System', light: 'Light', dark: 'Dark' } as const;
type Theme = keyof typeof themes;

const isTheme = (text: string | null): text is Theme =>
  text !== null && Object.hasOwn(themes, text);

const readTheme = (): Theme => {
  const kept = localStorage.getItem(name);
  return isTheme(kept) ? kept : 'system';
};

export const applyTheme = (theme = readTheme()): void => {
  document.documentElement.dataset.theme = theme;
};

export const ThemeChoice = () => {
  const [theme, setTheme] = useState(readTheme);
  const choose = (chosen: string): void => {
    if (!isTheme(chosen)) return;
    localStorage.setItem(name, chosen);
    applyTheme(chosen);
    setTheme(chosen);
  };
  return (
    <label className="theme">
      Appearance
      <select value={theme} onChange={({ target }) => choose(target.value)}>
        {Object.entries(themes).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
};
