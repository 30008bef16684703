/** Clients that fetch files badly. */
import {
  afterFailure,
  all,
  body,
  type DefectiveClient,
  download,
  dropSteps,
  editSteps,
  insert,
  logOf,
  provides,
  repeated,
  silentAfter,
} from '../alter.ts';

/** Reports success for the file that is not what it should be, and names it as installed. */
const installsBadFile = all(
  body('f1: failure', { status: 'success' }),
  provides(afterFailure, { artifact_name: 'bad' }),
);

export const downloading: readonly DefectiveClient[] = [
  {
    duty: 'get.uses-given-uri',
    description: 'appends a parameter to the link',
    alter: editSteps('d2: download', (step) => {
      step.target = `${step.target}&device=1`;
    }),
  },
  {
    duty: 'get.method-get',
    description: 'requests the length by HEAD',
    alter: insert('d2: downloading', () => [download('d2', { method: 'HEAD', responseBytes: 0 })]),
  },
  {
    duty: 'get.no-token-to-other-hosts',
    description: 'sends its token to the storage',
    alter: editSteps('d2: download', { headers: { Authorization: 'Bearer secret' } }),
  },
  {
    duty: 'get.no-token-to-other-hosts',
    description: 'keeps its token across a redirect',
    alter: editSteps('d3: download', { headers: { Authorization: 'Bearer secret' } }),
  },
  {
    duty: 'get.follows-redirect',
    description: 'fails at a redirect',
    alter: all(
      dropSteps(/^d3: (download|inventory)/),
      body('d3: success', { status: 'failure' }),
      provides(/^d3: poll|^d4: offer/, { artifact_name: 'three' }),
      insert('d3: success', (copy) => [logOf(copy, 'd3')]),
    ),
  },
  {
    duty: 'get.resumes',
    description: 'resumes one byte too far',
    alter: editSteps('d1: resumed', {
      headers: { Range: 'bytes=200001-' },
      responseHeaders: { 'Content-Range': 'bytes 200001-399999/400000' },
    }),
    consequences: ['get.short-body'],
  },
  {
    duty: 'get.resumes',
    description: 'starts from the first byte after each cut',
    alter: editSteps('d1: resumed', (step) => {
      step.headers = {};
      Object.assign(step, { status: 200, responseBytes: 400_000 });
      step.responseHeaders = { 'Content-Length': '400000', ETag: '"d1"' };
    }),
  },
  {
    duty: 'get.checks-206',
    description: 'installs a part that began elsewhere',
    alter: editSteps('d1: resumed', {
      responseHeaders: { 'Content-Range': 'bytes 100000-299999/400000' },
    }),
  },
  {
    duty: 'get.validator-changed',
    description: 'joins the parts of two files',
    alter: editSteps('d1: resumed', { responseHeaders: { ETag: '"other"' } }),
  },
  {
    duty: 'get.short-body',
    description: 'installs a file without its end',
    alter: dropSteps('d1: resumed'),
  },
  {
    duty: 'get.checksum',
    description: 'installs a file with altered bytes',
    alter: installsBadFile,
    consequences: ['inventory.after-update'],
  },
  {
    duty: 'get.size-limits',
    description: 'installs a file that went on past its end',
    alter: all(
      editSteps('f1: download', { faultsAndVariations: ['over-long'], alteration: 'end' }),
      installsBadFile,
    ),
    consequences: ['inventory.after-update'],
  },
  {
    duty: 'get.expired-link',
    description: 'uses a refused link again and again',
    alter: insert('d2: downloading', () =>
      Array.from({ length: 4 }, () =>
        download('d2', { status: 403, responseBytes: 0, afterMs: 61_000 }),
      ),
    ),
  },
  {
    duty: 'get.once',
    description: 'fetches the file three times',
    alter: repeated('d2: download', 2),
  },
  {
    duty: 'get.fresh-link',
    description: 'uses the link of an earlier offer',
    alter: all(
      editSteps('d4: offer again', (step) => {
        const response = structuredClone(step.response) as {
          artifact: { source: { uri: string } };
        };
        response.artifact.source.uri += '&n=2';
        step.response = response;
      }),
      insert('d4: offer again', () => [download('d4', { afterMs: 5000 })]),
    ),
  },
  {
    duty: 'get.bounded-retries',
    description: 'tries a download that fails sixty times',
    alter: insert('d2: downloading', () =>
      Array.from({ length: 60 }, () =>
        download('d2', { status: 404, responseBytes: 0, afterMs: 61_000 }),
      ),
    ),
  },
  {
    duty: 'get.gzip',
    description: 'fails at a file with gzip',
    alter: editSteps('f1: download', { responseHeaders: { 'Content-Encoding': 'gzip' } }),
  },
  {
    duty: 'get.large',
    description: 'gives up without a report after a file of 3 GiB',
    alter: all(
      editSteps('d2: download', {
        responseBytes: 3 * 2 ** 30,
        responseHeaders: { 'Content-Length': `${3 * 2 ** 30}` },
      }),
      silentAfter('d2: download'),
    ),
    consequences: ['report.final'],
  },
  {
    duty: 'report.success-only-if-installed',
    description: 'reports success although every download was refused',
    alter: editSteps('d2: download', { status: 404, responseBytes: 0 }),
  },
  {
    duty: 'get.short-body',
    description: 'fetches a file from its middle, and installs that',
    alter: dropSteps('d1: cut'),
  },
  {
    duty: 'get.once',
    description: 'fetches a file three times after a cut',
    alter: repeated('d5: replaced', 2),
  },
  {
    duty: 'get.416',
    description: 'requests the same part again after a 416',
    alter: repeated('d5: refused', 4),
  },
];
