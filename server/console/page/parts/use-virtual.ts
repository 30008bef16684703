/** The virtualiser as a hook: which rows of a long list are in view. */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useReducer, useRef } from 'preact/hooks';

/** Rows beyond the view that are there as well, so that scrolling shows no gap. */
const OVERSCAN_ROWS = 12;
/** The view before it has been measured. */
const FIRST_VIEW = { width: 800, height: 600 };

/** The virtualiser of the rows in this element, each `rowHeight` pixels high. */
export function useVirtual(
  count: number,
  element: RefObject<HTMLElement>,
  rowHeight: number,
): Virtualizer<HTMLElement, HTMLTableRowElement> {
  const [, render] = useReducer((round: number) => round + 1, 0);
  const kept = useRef<Virtualizer<HTMLElement, HTMLTableRowElement> | undefined>(undefined);
  const options = {
    count,
    getScrollElement: () => element.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN_ROWS,
    initialRect: FIRST_VIEW,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => render(0),
  };
  kept.current ??= new Virtualizer<HTMLElement, HTMLTableRowElement>(options);
  const virtualizer = kept.current;
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  return virtualizer;
}
