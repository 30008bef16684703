/** A page of a list: which one, and how long. */
export interface Page {
  /** The number of the page, from 1. */
  readonly page: number;
  readonly perPage: number;
}

/** LIMIT and OFFSET of a page, in the order of the placeholders `LIMIT ? OFFSET ?`. */
export function bounds({ page, perPage }: Page): [number, number] {
  return [perPage, (page - 1) * perPage];
}
