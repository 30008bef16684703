/** Runs an action on many devices. */
import { useState } from 'preact/hooks';
import { askUser } from '../confirm.tsx';
import { attempt } from '../parts/action.tsx';
import { decideDevice, decommission } from './decisions.ts';

/** Maximum number of concurrent requests. */
const AT_ONCE = 8;

/** Buttons that accept every pending device in the list, or change the selected devices. */
export function BulkActions({
  pending,
  selected,
  onDone,
}: {
  pending: readonly string[];
  selected: readonly string[];
  onDone: () => void;
}) {
  const [progress, setProgress] = useState('');
  const run = async (
    ids: readonly string[],
    word: string,
    work: (id: string) => Promise<unknown>,
  ): Promise<void> => {
    const many = `${ids.length} ${ids.length === 1 ? 'device' : 'devices'}`;
    const confirmation = {
      title: `${word} ${many}?`,
      text: consequences[word] ?? '',
      action: word,
    };
    if (!(await askUser(confirmation))) return;
    const remainingIds = [...ids];
    const worker = async (): Promise<void> => {
      for (let id = remainingIds.shift(); id !== undefined; id = remainingIds.shift()) {
        await work(id);
        setProgress(`${ids.length - remainingIds.length} of ${many}`);
      }
    };
    const workers = Array.from({ length: AT_ONCE }, worker);
    await attempt(() => Promise.all(workers), `${word}: ${many}`);
    setProgress('');
    onDone();
  };
  const button = (
    label: string,
    ids: readonly string[],
    [word, work]: readonly [string, (id: string) => Promise<unknown>],
  ) => (
    <button
      type="button"
      class="kit-button"
      data-kind={word === 'Accept' ? '' : 'danger'}
      disabled={ids.length === 0 || progress !== ''}
      onClick={() => run(ids, word, work)}
    >
      {label} ({ids.length})
    </button>
  );
  return (
    <>
      {button('Accept all pending', pending, ['Accept', (id) => decideDevice(id, 'accepted')])}
      {button('Reject selected', selected, ['Reject', (id) => decideDevice(id, 'rejected')])}
      {button('Decommission selected', selected, ['Decommission', decommission])}
      <span role="status" class="muted">
        {progress}
      </span>
    </>
  );
}

const consequences: Readonly<Record<string, string>> = {
  Accept: 'They can then get tokens and updates.',
  Reject: 'Their authentication requests are refused, and their tokens become invalid.',
  Decommission: 'All their data is deleted. They can authenticate again as new devices.',
};
