import type { Records } from '../../../../api.ts'
import { ActButton, Button, Field, Form } from '../../../../components/Form.tsx'
import { Icon } from '../../../../components/Icon.tsx'
import { Time } from '../../../../components/Time.tsx'
import { Empty, Row, Rows } from '../../../../components/lists.tsx'
import { Fold } from '../../../../components/settings.tsx'
import { profileFrame } from '../../../../layout/settings.tsx'
import { page as declare, text } from '../../../../page.ts'
import { rich } from '../../../../rich.ts'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/user-settings.ts'

interface Data {
  keys: Records['GpgKey'][]
}

export const page = declare<Data>({
  signedIn: true,
  frame: profileFrame,
  load: ({ api }) => ({ keys: api.get('/user/gpg_keys', {}) }),
  title: () => common.gpgKeys,
  View: ({ keys }) => (
    <>
      <h1>{common.gpgKeys}</h1>
      <p class="quiet">{t.commitsSignedWithTheseKeys}</p>
      <Fold title={t.addGpgKey} action="add">
        <Form action="add" resets>
          <Field
            name="key"
            label={common.publicKey}
            lines={6}
            required
            placeholder="-----BEGIN PGP PUBLIC KEY BLOCK-----"
            hint={t.pasteOutputOfGpgArmorExport}
          />
          <Button kind="main">{common.addKey}</Button>
        </Form>
      </Fold>
      {keys.length === 0 ? (
        <Empty title={t.noGpgKeysYet} />
      ) : (
        <Rows label={t.keys}>
          {keys.map(({ id, key, created_at }) => (
            <Row
              key={id}
              lead={<Icon name="lock" />}
              title={t.keyNumber(id)}
              facts={rich(t.partAddedTime, {
                part: <code>{key.split('\n')[2]?.slice(0, 40)}…</code>,
                time: <Time at={created_at} />,
              })}
              aside={
                <>
                  <ActButton action="revoke" fields={{ key: id }} confirm={t.revokeThisKeyCommitsSigned}>
                    {common.revoke}
                  </ActButton>
                  <ActButton action="remove" fields={{ key: id }} kind="danger" confirm={t.deleteThisKey}>
                    {' '}
                    {common.deleteLabel}{' '}
                  </ActButton>
                </>
              }
            />
          ))}
        </Rows>
      )}
    </>
  ),
  actions: {
    async add({ api, form }) {
      await api.post('/user/gpg_keys', { key: text(form, 'key') })
    },
    async remove({ api, form }) {
      await api.delete('/user/gpg_keys/{key_id}', { key_id: text(form, 'key') })
    },
    async revoke({ api, form }) {
      await api.post('/user/gpg_keys/{key_id}/revoke', { key_id: text(form, 'key') })
    },
  },
})
