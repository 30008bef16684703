/** Planted defects of artifacts and their links, of configuration, inventory and monitor. */
import type { Defect } from '../defect.ts';
import { bodyBecomes, fieldBecomes, requestBecomes } from '../plants.ts';

export const artifactDefects: readonly Defect[] = [
  {
    id: 'artifact-list-ignores-the-release',
    title: 'The list of a release holds one more artifact, of another name.',
    breaks: ['artifacts.list-selects'],
    operations: ['list-artifacts'],
    plant: bodyBecomes((list) =>
      Array.isArray(list) && list.length > 0 ? [...list, { ...list[0], name: 'other' }] : list,
    ),
  },
  {
    id: 'artifact-id-is-of-another',
    title: 'An artifact is shown with a description that is not its own.',
    breaks: ['artifacts.from-the-file'],
    operations: ['get-artifact'],
    plant: fieldBecomes('info.format', () => 'other'),
  },
  {
    id: 'artifact-link-has-expired',
    title: 'A link says that it expired long ago.',
    breaks: ['link.fields'],
    operations: ['get-artifact-link'],
    plant: fieldBecomes('expire', () => '2001-01-01T00:00:00Z'),
  },
  {
    id: 'range-is-ignored',
    title: 'The whole file is sent whatever range is asked for.',
    breaks: ['link.range'],
    operations: ['download-artifact'],
    plant: requestBecomes(({ headers: { range: _, ...headers }, ...request }) => ({
      ...request,
      headers,
    })),
  },
  {
    id: 'altered-link-gives-the-file',
    title: 'A link whose signature was altered gives the file all the same.',
    breaks: ['link.is-signed'],
    operations: ['download-artifact'],
    plant: () => {
      const files = new Map<string, Buffer>();
      return {
        answer: (answer, { path }) => {
          if (answer.status === 200) files.set(path, answer.body);
          const body = files.get(path);
          return answer.status === 403 && body ? { ...answer, status: 200, body } : answer;
        },
      };
    },
  },
];
