import type { Records } from '../../../../api.ts'
import { ActButton, Button, Choice, Field, Form } from '../../../../components/Form.tsx'
import { Icon } from '../../../../components/Icon.tsx'
import { Time } from '../../../../components/Time.tsx'
import { Empty, Row, Rows } from '../../../../components/lists.tsx'
import { Fold } from '../../../../components/settings.tsx'
import { optional, word } from '../../../../fields.ts'
import { profileFrame } from '../../../../layout/settings.tsx'
import { page as declare, text } from '../../../../page.ts'
import { rich } from '../../../../rich.ts'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/user-settings.ts'

interface Data {
  keys: Records['SshKey'][]
}

const USES = [
  ['auth_and_signing', t.authenticationSigning],
  ['auth', t.authenticationOnly],
  ['signing', t.signingOnly],
] as const

export const page = declare<Data>({
  signedIn: true,
  frame: profileFrame,
  load: ({ api }) => ({ keys: api.get('/user/keys', { per_page: 100 }) }),
  title: () => common.sshKeys,
  View: ({ keys }) => (
    <>
      <h1>{common.sshKeys}</h1>
      <p class="quiet">{t.useSshKeysToPush}</p>
      <Fold title={t.addSshKey} action="add">
        <Form action="add" resets>
          <Field name="key" label={common.publicKey} lines={4} required placeholder="ssh-ed25519 AAAA…" />
          <Field name="title" label={common.title} required placeholder={t.laptop} />
          <Choice name="usage_type" label={t.usageType} options={USES} value="auth_and_signing" />
          <Field name="expires_at" label={common.expirationDate} type="date" />
          <Button kind="main">{common.addKey}</Button>
        </Form>
      </Fold>
      {keys.length === 0 ? (
        <Empty title={t.noSshKeysYet}>
          <p>{rich(t.generateKeyWithSshKeygen, { code: (text) => <code>{text}</code> })}</p>
        </Empty>
      ) : (
        <Rows label={t.keys}>
          {keys.map((key) => (
            <Row
              key={key.id}
              lead={<Icon name="lock" />}
              title={key.title}
              facts={
                <>
                  {rich(t.keyAddedTime, {
                    key: <code>{key.key.slice(0, 60)}…</code>,
                    time: <Time at={key.created_at} />,
                  })}{' '}
                  {key.last_used_at ? rich(t.lastUsedTime, { time: <Time at={key.last_used_at} /> }) : common.neverUsed}
                  {key.expires_at && <> {rich(t.expiresTime, { time: <Time at={key.expires_at} /> })}</>}
                </>
              }
              aside={
                <ActButton action="remove" fields={{ key: key.id }} kind="danger" confirm={t.deleteKeyTitle(key.title)}>
                  {' '}
                  {common.deleteLabel}{' '}
                </ActButton>
              }
            />
          ))}
        </Rows>
      )}
    </>
  ),
  actions: {
    async add({ api, form }) {
      await api.post('/user/keys', {
        title: text(form, 'title'),
        key: text(form, 'key'),
        usage_type: word<'auth' | 'signing'>(form, 'usage_type'),
        expires_at: optional(form, 'expires_at'),
      })
    },
    async remove({ api, form }) {
      await api.delete('/user/keys/{key_id}', { key_id: text(form, 'key') })
    },
  },
})
