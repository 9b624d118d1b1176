/** Sets the title of a page, which the browser shows in its tab and its history. */
import { useEffect } from 'react';

/** Returns a hook that sets the title: the page's words, then the product. */
export const titleOf = (product: string) =>
  function useTitle(...words: (string | undefined)[]): void {
    const title = [...words, product].filter((word) => word !== undefined).join(' · ');
    useEffect(() => {
      document.title = title;
    }, [title]);
  };
