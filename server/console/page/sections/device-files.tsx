/** Transfers files to and from a connected device. */
import { useState } from 'preact/hooks';
import { Card } from '../../../../fixtures/page/card.tsx';
import { callManagement } from '../api/management.ts';
import { ActionButton } from '../parts/action.tsx';
import { saveFile } from '../parts/save-file.ts';

const pathField = (label: string, value: string, onInput: (value: string) => void) => (
  <label class="kit-field">
    {label}
    <input
      value={value}
      spellcheck={false}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  </label>
);

/** Renders a card for each direction: one gets a file from the device, one sends a file to it. */
export function DeviceFiles({ deviceId, isOpen }: { deviceId: string; isOpen: boolean }) {
  const parameters = { id: deviceId };
  const [source, setSource] = useState('/etc/hostname');
  const [target, setTarget] = useState('/tmp/file');
  const [file, setFile] = useState<File | undefined>(undefined);
  const download = async (): Promise<void> => {
    const response = await callManagement('download-device-file', {
      parameters,
      query: { path: source },
    });
    saveFile(await response.blob(), source.split('/').at(-1) || 'file');
  };
  const upload = async (): Promise<void> => {
    if (!file) throw new Error('choose a file first');
    const body = new FormData();
    body.append('path', target);
    body.append('file', file);
    await callManagement('upload-device-file', { parameters, body });
  };
  return (
    <div class="two-columns">
      <Card title="Get a file">
        {pathField('Path on the device', source, setSource)}
        <div class="actions">
          <ActionButton work={download} done="The file was downloaded." isDisabled={!isOpen}>
            Download
          </ActionButton>
        </div>
      </Card>
      <Card title="Send a file">
        <label class="kit-field">
          File
          <input type="file" onChange={(event) => setFile(event.currentTarget.files?.[0])} />
        </label>
        {pathField('Path on the device', target, setTarget)}
        <div class="actions">
          <ActionButton
            work={upload}
            done="The file was sent to the device."
            isDisabled={!isOpen || !file}
          >
            Upload
          </ActionButton>
        </div>
      </Card>
    </div>
  );
}
