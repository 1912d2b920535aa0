/** Directory groups whose members belong to this group. */
import type { Records } from '../../../api.ts'
import { ActButton, Button, Choice, Field, Form } from '../../../components/Form.tsx'
import { Empty, Row, Rows } from '../../../components/lists.tsx'
import { Fold, Notice } from '../../../components/settings.tsx'
import { optional } from '../../../fields.ts'
import type { InGroup } from '../../../layout/group.tsx'
import { groupSettingsFrame } from '../../../layout/settings.tsx'
import { ROLES, roleName } from '../../../levels.ts'
import { page as declare, text } from '../../../page.ts'

interface Data {
  links: Records['DirectoryLink'][]
}

export const page = declare<Data, InGroup>({
  signedIn: true,
  frame: groupSettingsFrame,
  load: ({ api, params }) => ({ links: api.get('/groups/{id}/ldap_group_links', { id: params.id! }) }),
  title: () => 'LDAP',
  View: ({ links }) => (
    <>
      <h1>LDAP synchronization</h1>
      <p class="quiet">Members of these LDAP groups become members of this group.</p>
      <Notice />
      <Fold title="Add LDAP link" action="add">
        <Form action="add" resets>
          <Field name="provider" label="Provider" value="ldapmain" required />
          <Field name="cn" label="Group (cn)" hint="Enter a group or a filter, not both." />
          <Field name="filter" label="Filter" placeholder="(department=engines)" />
          <Choice name="group_access" label="Role" options={ROLES} value="30" />
          <Button kind="main">Add link</Button>
        </Form>
      </Fold>
      {links.length === 0 ? (
        <Empty title="No LDAP links yet" />
      ) : (
        <>
          <Rows label="LDAP links">
            {links.map((link) => (
              <Row
                key={`${link.provider} ${link.cn ?? link.filter}`}
                title={link.cn ?? link.filter}
                facts={`${link.provider} · ${roleName(link.group_access)}`}
                aside={
                  <ActButton
                    action="remove"
                    fields={{ provider: link.provider, cn: link.cn ?? '', filter: link.filter ?? '' }}
                    kind="danger"
                    confirm="Remove the link?"
                  >
                    Remove
                  </ActButton>
                }
              />
            ))}
          </Rows>
          <p>
            <ActButton action="sync">Sync now</ActButton>
          </p>
        </>
      )}
    </>
  ),
  actions: {
    async add({ api, params, form }) {
      await api.post('/groups/{id}/ldap_group_links', {
        id: params.id!,
        provider: text(form, 'provider'),
        cn: optional(form, 'cn'),
        filter: optional(form, 'filter'),
        group_access: Number(text(form, 'group_access')) as 30,
      })
    },
    async remove({ api, params, form }) {
      await api.delete('/groups/{id}/ldap_group_links', {
        id: params.id!,
        provider: text(form, 'provider'),
        cn: optional(form, 'cn'),
        filter: optional(form, 'filter'),
      })
    },
    async sync({ api, params }) {
      const { message } = await api.post('/groups/{id}/ldap_sync', { id: params.id! })
      return { told: { notice: message } }
    },
  },
})
