/**
 * Keyboard navigation of lists: `j`, `k` and the arrows move between rows, Enter opens the focused row, Escape focuses
 * the search.
 */
import { useEffect } from 'react';
import { isTyping } from './slash.ts';

const steps: Record<string, number> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

const links = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('[data-row]')];

const walk = (step: number): void => {
  const all = links();
  const at = all.indexOf(document.activeElement as HTMLElement);
  const next = at === -1 ? (step > 0 ? 0 : all.length - 1) : at + step;
  all[Math.max(0, Math.min(all.length - 1, next))]?.focus();
};

export const useListKeys = (): void => {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { key, target, altKey, ctrlKey, metaKey } = event;
      if (altKey || ctrlKey || metaKey) return;
      const isInSearch = (target as Element).matches('[type=search]');
      const step = steps[key];
      if (step !== undefined && (!isTyping(event) || (isInSearch && key === 'ArrowDown'))) {
        event.preventDefault();
        walk(step);
      }
      if (key === 'Escape' && (target as Element).matches('[data-row]')) {
        document.querySelector<HTMLElement>('[type=search]')?.focus();
      }
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
};
