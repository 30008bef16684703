/** The sections of the page, with their addresses and titles. */
import type { ComponentType } from 'preact';
import { lazy } from 'preact/compat';
import { DeviceSection } from './sections/device.tsx';
import { DevicesSection } from './sections/devices.tsx';
import { EntrySection } from './sections/entry.tsx';
import { ExplanationSection } from './sections/explanation.tsx';
import { JournalSection } from './sections/journal.tsx';
import { OverviewSection } from './sections/overview.tsx';

interface ConsoleSection {
  readonly title: string;
  readonly group: (typeof groups)[number];
  readonly href: string;
  /** The sections by route pattern. A section reads its parameters from the router. */
  readonly routes: Readonly<Record<string, ComponentType>>;
}

/** The headings of the navigation. */
export const groups = ['Fleet', 'Inspect', 'Control', 'Run'] as const;

const ArtifactsSection = lazy(() => import('./sections/artifacts.tsx'));
const AuditSection = lazy(() => import('./sections/audit.tsx'));
const ClockSection = lazy(() => import('./sections/clock.tsx'));
const ClientSection = lazy(() => import('./sections/client-duties.tsx'));
const ClientsSection = lazy(() => import('./sections/clients.tsx'));
const ConformanceSection = lazy(() => import('./sections/conformance.tsx'));
const DeploymentSection = lazy(() => import('./sections/deployment.tsx'));
const DeploymentsSection = lazy(() => import('./sections/deployments.tsx'));
const DoctorSection = lazy(() => import('./sections/doctor.tsx'));
const FaultsSection = lazy(() => import('./sections/faults.tsx'));
const ReferenceSection = lazy(() => import('./sections/reference.tsx'));
const SimulatorSection = lazy(() => import('./sections/simulator.tsx'));
const StatesSection = lazy(() => import('./sections/states.tsx'));

/** All sections, in the order of the navigation. */
export const sections: readonly ConsoleSection[] = [
  {
    title: 'Overview',
    group: 'Fleet',
    href: '/',
    routes: { '/': OverviewSection },
  },
  {
    title: 'Devices',
    group: 'Fleet',
    href: '/devices',
    routes: { '/devices': DevicesSection, '/devices/:id': DeviceSection },
  },
  {
    title: 'Deployments',
    group: 'Fleet',
    href: '/deployments',
    routes: { '/deployments': DeploymentsSection, '/deployments/:id': DeploymentSection },
  },
  {
    title: 'Artifacts',
    group: 'Fleet',
    href: '/artifacts',
    routes: { '/artifacts': ArtifactsSection },
  },
  {
    title: 'Journal',
    group: 'Inspect',
    href: '/journal',
    routes: {
      '/journal': JournalSection,
      '/journal/:sequence': EntrySection,
      '/explain/:requestId': ExplanationSection,
    },
  },
  {
    title: 'Clients',
    group: 'Inspect',
    href: '/clients',
    routes: { '/clients': ClientsSection, '/clients/:client': ClientSection },
  },
  {
    title: 'Signature doctor',
    group: 'Inspect',
    href: '/doctor',
    routes: { '/doctor': DoctorSection },
  },
  {
    title: 'Audit log',
    group: 'Inspect',
    href: '/audit',
    routes: { '/audit': AuditSection },
  },
  {
    title: 'Reference',
    group: 'Inspect',
    href: '/reference',
    routes: { '/reference': ReferenceSection, '/reference/:id': ReferenceSection },
  },
  {
    title: 'Faults and variations',
    group: 'Control',
    href: '/faults',
    routes: { '/faults': FaultsSection },
  },
  {
    title: 'Clock and calendar',
    group: 'Control',
    href: '/clock',
    routes: { '/clock': ClockSection },
  },
  {
    title: 'States and tenants',
    group: 'Control',
    href: '/states',
    routes: { '/states': StatesSection },
  },
  {
    title: 'Conformance',
    group: 'Run',
    href: '/conformance',
    routes: { '/conformance': ConformanceSection },
  },
  {
    title: 'Simulator',
    group: 'Run',
    href: '/simulator',
    routes: { '/simulator': SimulatorSection },
  },
];

/** Returns the section that has a route with the first segment of this path. */
export function findSection(path: string): ConsoleSection | undefined {
  const segment = firstSegment(path);
  return sections.find(({ routes }) =>
    Object.keys(routes).some((route) => firstSegment(route) === segment),
  );
}

function firstSegment(path: string): string | undefined {
  return path.split('/')[1];
}
