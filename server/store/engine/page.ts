/** The page of a list that a request asks for. */
export interface Page {
  /** Page number, from 1. */
  readonly page: number;
  readonly perPage: number;
}

/** Returns the values for `LIMIT ? OFFSET ?`. */
export function bounds({ page, perPage }: Page): [number, number] {
  return [perPage, (page - 1) * perPage];
}
