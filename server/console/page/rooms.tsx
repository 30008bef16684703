/** The rooms of the page: where they are, what they are called, and their views. */
import type { ComponentType } from 'preact';
import { OverviewRoom } from './rooms/overview.tsx';

interface Room {
  readonly title: string;
  readonly group: (typeof groups)[number];
  readonly href: string;
  /** The addresses for which the room is marked in the navigation. */
  readonly pattern: RegExp;
  // A view reads its parameters from the router.
  readonly routes: Readonly<Record<string, ComponentType>>;
}

/** The headings of the navigation. */
export const groups = ['Fleet', 'Look closer', 'Steer', 'Run'] as const;

/** In the order of the navigation. */
export const rooms: readonly Room[] = [
  {
    title: 'Overview',
    group: 'Fleet',
    href: '/',
    pattern: /^\/$/,
    routes: { '/': OverviewRoom },
  },
];
