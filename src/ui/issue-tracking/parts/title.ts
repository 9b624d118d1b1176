/** What the browser calls the page, in its tab and its history. */
import { useEffect } from 'react';

export const useTitle = (...words: (string | undefined)[]): void => {
  const title = [...words, 'Issue tracker'].filter((word) => word !== undefined).join(' · ');
  useEffect(() => {
    document.title = title;
  }, [title]);
};
