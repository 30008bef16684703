/** Defects in the versions in paths. Spec: Versioning */
import { objectOf } from '../alter.ts';
import { statusBecomes } from '../alterations.ts';
import type { Defect } from '../defect.ts';

/** The device type that the case on versions sends, by which its requests are recognized. */
const suiteGroup = 'conformance-versions';

export const versioningDefects: readonly Defect[] = [
  {
    id: 'version-2-is-not-there',
    title: 'The path of version 2 is not found.',
    violates: ['versioning.version-in-path', 'versioning.both-versions-served'],
    operations: ['post-next-deployment-v2'],
    alter: statusBecomes(
      204,
      404,
      (request) => Object(objectOf(request).device_provides).device_type === suiteGroup,
    ),
  },
  {
    id: 'version-1-is-gone',
    title: 'Version 1 is retired as soon as version 2 exists.',
    violates: ['versioning.both-versions-served'],
    operations: ['post-next-deployment'],
    alter: statusBecomes(204, 410, (request) => objectOf(request).device_type === suiteGroup),
  },
];
