/** What the browser calls a page, in its tab and its history. */
import { useEffect } from 'react';

/** Names pages of a product: what is shown, then the product. */
export const titleOf = (product: string) =>
  function useTitle(...words: (string | undefined)[]): void {
    const title = [...words, product].filter((word) => word !== undefined).join(' · ');
    useEffect(() => {
      document.title = title;
    }, [title]);
  };
