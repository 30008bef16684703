/** Wraps the virtualizer library as a hook. It decides which rows of a long list are rendered. */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useReducer, useRef } from 'preact/hooks';

/** Number of rows rendered beyond the visible ones, so that scrolling shows no gap. */
const OVERSCAN_ROWS = 12;
/** Assumed size of the visible area before it is measured, in pixels. */
const FIRST_VIEW = { width: 800, height: 600 };

/**
 * Returns the virtualizer of the rows in an element. A row counts as `rowHeight` pixels high until
 * it is measured.
 */
export function useVirtual({
  count,
  element,
  rowHeight,
  keyOf,
}: {
  count: number;
  element: RefObject<HTMLElement>;
  rowHeight: number;
  keyOf: (index: number) => string | number;
}): Virtualizer<HTMLElement, HTMLTableRowElement> {
  const [, render] = useReducer((round: number) => round + 1, 0);
  const virtualizerRef = useRef<Virtualizer<HTMLElement, HTMLTableRowElement> | undefined>(
    undefined,
  );
  const options = {
    count,
    getScrollElement: () => element.current,
    estimateSize: () => rowHeight,
    getItemKey: keyOf,
    overscan: OVERSCAN_ROWS,
    initialRect: FIRST_VIEW,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => render(0),
  };
  virtualizerRef.current ??= new Virtualizer<HTMLElement, HTMLTableRowElement>(options);
  const virtualizer = virtualizerRef.current;
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  return virtualizer;
}
