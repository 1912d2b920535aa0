import type { Records } from '../../../api.ts'
import { ActButton, Button, Field, Form, Switch } from '../../../components/Form.tsx'
import { Empty, Row, Rows } from '../../../components/lists.tsx'
import { Boxes, Fold, Secret } from '../../../components/settings.tsx'
import { SCOPES } from '../../../components/tokens.tsx'
import { flag } from '../../../fields.ts'
import { adminFrame } from '../../../layout/settings.tsx'
import { page as declare, text, texts } from '../../../page.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/credentials.ts'

interface Data {
  applications: Records['Application'][]
}

export const page = declare<Data>({
  signedIn: true,
  frame: adminFrame,
  load: ({ api }) => ({ applications: api.get('/applications', {}) }),
  title: () => common.applications,
  View: ({ applications }) => (
    <>
      <h1>{common.applications}</h1>
      <p class="quiet">{t.instanceWideOauthApplications}</p>
      <Secret name="secret" label={t.applicationSecret} />
      <Fold title={t.newApplication} action="create">
        <Form action="create" resets>
          <Field name="name" label={common.name} required />
          <Field name="redirect_uri" label={t.callbackUrls} lines={2} required hint={t.oneUrlPerLine} />
          <Switch name="confidential" label={t.confidentialApplicationCanKeep} isOn />
          <Boxes name="scopes" label={t.scopes} options={SCOPES} />
          <Button kind="main">{t.createApplication}</Button>
        </Form>
      </Fold>
      {applications.length === 0 ? (
        <Empty title={t.noApplications} />
      ) : (
        <Rows label={common.applications}>
          {applications.map((one) => (
            <Row
              key={one.id}
              title={one.application_name}
              facts={
                <>
                  <code>{one.application_id}</code> · {one.callback_url}
                </>
              }
              aside={
                <>
                  <ActButton action="renew" fields={{ application: one.id }} confirm={t.renewSecretCurrentSecretStops}>
                    {t.renewSecret}
                  </ActButton>
                  <ActButton
                    action="remove"
                    fields={{ application: one.id }}
                    kind="danger"
                    confirm={t.deleteThisApplication}
                  >
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
    async create({ api, form }) {
      const made = await api.post('/applications', {
        name: text(form, 'name'),
        redirect_uri: text(form, 'redirect_uri'),
        scopes: texts(form, 'scopes').join(' '),
        confidential: flag(form, 'confidential'),
      })
      return { flash: { secret: made.secret } }
    },
    async renew({ api, form }) {
      const made = await api.post('/applications/{id}/renew-secret', { id: text(form, 'application') })
      return { flash: { secret: made.secret } }
    },
    async remove({ api, form }) {
      await api.delete('/applications/{id}', { id: text(form, 'application') })
    },
  },
})
