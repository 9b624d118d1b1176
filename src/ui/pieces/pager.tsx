/** Links to the previous and the next page of a list. */
type PagerProps = { page: number; hasMore: boolean; onPage: (page: number) => void };

export const Pager = ({ page, hasMore, onPage }: PagerProps) => {
  if (page === 1 && !hasMore) return null;
  return (
    <nav className="pager" aria-label="Pages">
      <button type="button" disabled={page === 1} onClick={() => onPage(page - 1)}>
        Previous
      </button>
      <span>Page {page}</span>
      <button type="button" disabled={!hasMore} onClick={() => onPage(page + 1)}>
        Next
      </button>
    </nav>
  );
};
