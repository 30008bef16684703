/** Lists artifacts, uploads them, and generates them from any file. */
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Artifact } from '../../../../fixtures/contract/resources.ts';
import { Card } from '../../../../fixtures/page/card.tsx';
import { Empty } from '../../../../fixtures/page/states.tsx';
import { Table } from '../../../../fixtures/page/table.tsx';
import { useLoaded } from '../api/loaded.ts';
import { callManagement, manageAll } from '../api/management.ts';
import { ActionButton, attempt } from '../parts/action.tsx';
import { Paged } from '../parts/paged.tsx';
import { bytesText, dayAndTime } from '../parts/texts.ts';
import { View } from '../parts/view.tsx';

export default function ArtifactsSection() {
  const loaded = useLoaded(
    () => manageAll<Artifact>('list-all-artifacts', { query: { sort: 'modified:desc' } }),
    'artifacts',
    { isLive: true, pauseTicks: 3 },
  );
  return (
    <>
      <h1>Artifacts</h1>
      <div class="two-columns">
        <Drop onDone={loaded.reload} />
        <Generate onDone={loaded.reload} />
      </div>
      <View subject="the artifacts" loaded={loaded}>
        {(artifacts) => <List artifacts={artifacts} reload={loaded.reload} />}
      </View>
    </>
  );
}

function Drop({ onDone }: { onDone: () => void }) {
  const [isOver, setOver] = useState(false);
  const upload = async (files: FileList | null | undefined): Promise<void> => {
    for (const file of files ?? []) {
      const body = new FormData();
      body.append('size', String(file.size));
      body.append('artifact', file);
      await attempt(
        () => callManagement('upload-artifact', { body }),
        `${file.name} was uploaded.`,
      );
    }
    onDone();
  };
  return (
    <Card title="Upload">
      <label
        class="drop"
        data-over={isOver}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          void upload(event.dataTransfer?.files);
        }}
      >
        Drop <code>.mender</code> files here, or choose them
        <input
          type="file"
          multiple
          accept=".mender"
          onChange={(event) => upload(event.currentTarget.files)}
        />
      </label>
    </Card>
  );
}

function Generate({ onDone }: { onDone: () => void }) {
  const [file, setFile] = useState<File | undefined>(undefined);
  const [name, setName] = useState('');
  const [types, setTypes] = useState('');
  const [directory, setDirectory] = useState('');
  const generate = async (): Promise<void> => {
    if (!file) throw new Error('choose a file first');
    const body = new FormData();
    body.append('name', name);
    body.append('device_types_compatible', types);
    body.append('type', 'single-file');
    body.append('args', JSON.stringify({ dest_dir: directory }));
    body.append('file', file);
    await callManagement('generate-artifact', { body });
    onDone();
  };
  const field = (label: string, value: string, set: (value: string) => void) => (
    <label class="kit-field">
      {label}
      <input value={value} spellcheck={false} onInput={(event) => set(event.currentTarget.value)} />
    </label>
  );
  return (
    <Card title="Generate one from any file">
      <label class="kit-field">
        File
        <input type="file" onChange={(event) => setFile(event.currentTarget.files?.[0])} />
      </label>
      {field('Release name', name, setName)}
      {field('Device types, with commas between', types, setTypes)}
      {field('Directory on the device', directory, setDirectory)}
      <div class="actions">
        <ActionButton
          kind="main"
          work={generate}
          done="The artifact was generated."
          isDisabled={!file || [name, types, directory].includes('')}
        >
          Generate artifact
        </ActionButton>
      </div>
    </Card>
  );
}

function List({ artifacts, reload }: { artifacts: readonly Artifact[]; reload: () => void }) {
  if (artifacts.length === 0) return <Empty title="No artifacts yet" />;
  return (
    <Paged subject="artifacts" rows={artifacts}>
      {(page) => (
        <Page artifacts={page} caption={`${artifacts.length} artifacts`} reload={reload} />
      )}
    </Paged>
  );
}

function Page({
  artifacts,
  caption,
  reload,
}: {
  artifacts: readonly Artifact[];
  caption: string;
  reload: () => void;
}) {
  return (
    <Table
      caption={caption}
      rows={artifacts}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Name', cell: ({ name }) => name },
        { title: 'Device types', cell: (artifact) => artifact.device_types_compatible.join(', ') },
        { title: 'Size', cell: ({ size }) => bytesText(size ?? 0) },
        { title: 'Modified', cell: ({ modified }) => dayAndTime(modified) },
        {
          title: 'Depends',
          cell: ({ artifact_depends: depends = {} }) =>
            Object.entries(depends)
              .map(([key, values]) => `${key}: ${[values].flat().join(', ')}`)
              .join('; ') || '–',
        },
        {
          title: 'Actions',
          cell: ({ id, name }) => (
            <span class="actions">
              <Link href={`/deployments?artifact=${encodeURIComponent(name)}`}>Deploy</Link>
              <ActionButton
                kind="small"
                work={async () => {
                  await callManagement('delete-artifact', { parameters: { id } });
                  reload();
                }}
                done={`${name} was deleted.`}
                asks={{
                  title: `Delete ${name}?`,
                  text: 'Its file is deleted too.',
                  action: 'Delete',
                }}
              >
                Delete
              </ActionButton>
            </span>
          ),
        },
      ]}
    />
  );
}
