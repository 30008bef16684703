/** The views of the page, with their addresses and titles. */
import type { ComponentType } from 'preact';
import { lazy } from 'preact/compat';
import { DeviceRoom } from './rooms/device.tsx';
import { DevicesRoom } from './rooms/devices.tsx';
import { EntryRoom } from './rooms/entry.tsx';
import { ExplainRoom } from './rooms/explanation.tsx';
import { JournalRoom } from './rooms/journal.tsx';
import { OverviewRoom } from './rooms/overview.tsx';

interface Room {
  readonly title: string;
  readonly group: (typeof groups)[number];
  readonly href: string;
  /** Matches the addresses for which the navigation marks the room as current. */
  readonly pattern: RegExp;
  /** The views by route pattern. A view reads its parameters from the router. */
  readonly routes: Readonly<Record<string, ComponentType>>;
}

/** The headings of the navigation. */
export const groups = ['Fleet', 'Inspect', 'Control', 'Run'] as const;

const ArtifactsRoom = lazy(() => import('./rooms/artifacts.tsx'));
const AuditRoom = lazy(() => import('./rooms/audit.tsx'));
const ClockRoom = lazy(() => import('./rooms/clock.tsx'));
const ConformanceRoom = lazy(() => import('./rooms/conformance.tsx'));
const DeploymentRoom = lazy(() => import('./rooms/deployment.tsx'));
const DeploymentsRoom = lazy(() => import('./rooms/deployments.tsx'));
const DoctorRoom = lazy(() => import('./rooms/doctor.tsx'));
const FaultsRoom = lazy(() => import('./rooms/faults.tsx'));
const SimulatorRoom = lazy(() => import('./rooms/simulator.tsx'));
const WorldsRoom = lazy(() => import('./rooms/worlds.tsx'));

/** All rooms, in the order of the navigation. */
export const rooms: readonly Room[] = [
  {
    title: 'Overview',
    group: 'Fleet',
    href: '/',
    pattern: /^\/$/,
    routes: { '/': OverviewRoom },
  },
  {
    title: 'Devices',
    group: 'Fleet',
    href: '/devices',
    pattern: /^\/devices/,
    routes: { '/devices': DevicesRoom, '/devices/:id': DeviceRoom },
  },
  {
    title: 'Deployments',
    group: 'Fleet',
    href: '/deployments',
    pattern: /^\/deployments/,
    routes: { '/deployments': DeploymentsRoom, '/deployments/:id': DeploymentRoom },
  },
  {
    title: 'Artifacts',
    group: 'Fleet',
    href: '/artifacts',
    pattern: /^\/artifacts/,
    routes: { '/artifacts': ArtifactsRoom },
  },
  {
    title: 'Journal',
    group: 'Inspect',
    href: '/journal',
    pattern: /^\/(journal|explain)/,
    routes: {
      '/journal': JournalRoom,
      '/journal/:sequence': EntryRoom,
      '/explain/:requestId': ExplainRoom,
    },
  },
  {
    title: 'Signature doctor',
    group: 'Inspect',
    href: '/doctor',
    pattern: /^\/doctor/,
    routes: { '/doctor': DoctorRoom },
  },
  {
    title: 'Audit log',
    group: 'Inspect',
    href: '/audit',
    pattern: /^\/audit/,
    routes: { '/audit': AuditRoom },
  },
  {
    title: 'Faults and variations',
    group: 'Control',
    href: '/faults',
    pattern: /^\/faults/,
    routes: { '/faults': FaultsRoom },
  },
  {
    title: 'Clock and calendar',
    group: 'Control',
    href: '/clock',
    pattern: /^\/clock/,
    routes: { '/clock': ClockRoom },
  },
  {
    title: 'Worlds and snapshots',
    group: 'Control',
    href: '/worlds',
    pattern: /^\/worlds/,
    routes: { '/worlds': WorldsRoom },
  },
  {
    title: 'Conformance',
    group: 'Run',
    href: '/conformance',
    pattern: /^\/conformance/,
    routes: { '/conformance': ConformanceRoom },
  },
  {
    title: 'Simulator',
    group: 'Run',
    href: '/simulator',
    pattern: /^\/simulator/,
    routes: { '/simulator': SimulatorRoom },
  },
];
