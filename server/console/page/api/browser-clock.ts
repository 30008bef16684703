/** The browser's clock: the only code of the page that reads it or waits for it. */

/** Runs the work once after a delay. Returns a function that cancels it. */
export function after(delayMs: number, work: () => void): () => void {
  const timer = setTimeout(work, delayMs);
  return () => clearTimeout(timer);
}

/** Runs the work periodically. Returns a function that stops it. */
export function repeatEvery(periodMs: number, work: () => void): () => void {
  const timer = setInterval(work, periodMs);
  return () => clearInterval(timer);
}
