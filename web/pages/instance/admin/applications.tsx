import type { Records } from '../../../api.ts'
import { ActButton, Button, Field, Form, Switch } from '../../../components/Form.tsx'
import { Empty, Row, Rows } from '../../../components/lists.tsx'
import { Boxes, Fold, Secret } from '../../../components/settings.tsx'
import { SCOPES } from '../../../components/tokens.tsx'
import { flag } from '../../../fields.ts'
import { adminFrame } from '../../../layout/settings.tsx'
import { page as declare, text, texts } from '../../../page.ts'

interface Data {
  applications: Records['Application'][]
}

export const page = declare<Data>({
  signedIn: true,
  frame: adminFrame,
  load: ({ api }) => ({ applications: api.get('/applications', {}) }),
  title: () => 'Applications',
  View: ({ applications }) => (
    <>
      <h1>Applications</h1>
      <p class="quiet">Instance-wide OAuth applications.</p>
      <Secret name="secret" label="Application secret" />
      <Fold title="New application" action="create">
        <Form action="create" resets>
          <Field name="name" label="Name" required />
          <Field name="redirect_uri" label="Callback URLs" lines={2} required hint="One URL per line." />
          <Switch name="confidential" label="Confidential: the application can keep its secret private" isOn />
          <Boxes name="scopes" label="Scopes" options={SCOPES} />
          <Button kind="main">Create application</Button>
        </Form>
      </Fold>
      {applications.length === 0 ? (
        <Empty title="No applications" />
      ) : (
        <Rows label="Applications">
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
                  <ActButton
                    action="renew"
                    fields={{ application: one.id }}
                    confirm="Renew the secret? The current secret stops working immediately."
                  >
                    Renew secret
                  </ActButton>
                  <ActButton
                    action="remove"
                    fields={{ application: one.id }}
                    kind="danger"
                    confirm="Delete this application?"
                  >
                    {' '}
                    Delete{' '}
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
      return { told: { secret: made.secret } }
    },
    async renew({ api, form }) {
      const made = await api.post('/applications/{id}/renew-secret', { id: text(form, 'application') })
      return { told: { secret: made.secret } }
    },
    async remove({ api, form }) {
      await api.delete('/applications/{id}', { id: text(form, 'application') })
    },
  },
})
