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
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/groups.ts'

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
      <h1>{t.ldapSynchronization}</h1>
      <p class="quiet">{t.membersOfTheseLdapGroups}</p>
      <Notice />
      <Fold title={t.addLdapLink} action="add">
        <Form action="add" resets>
          <Field name="provider" label={t.provider} value="ldapmain" required />
          <Field name="cn" label={t.groupCn} hint={t.enterGroupOrFilterNotBoth} />
          <Field name="filter" label={common.filter} placeholder="(department=engines)" />
          <Choice name="group_access" label={common.role} options={ROLES} value="30" />
          <Button kind="main">{t.addLink}</Button>
        </Form>
      </Fold>
      {links.length === 0 ? (
        <Empty title={t.noLdapLinksYet} />
      ) : (
        <>
          <Rows label={t.ldapLinks}>
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
                    confirm={t.removeLink}
                  >
                    {common.remove}
                  </ActButton>
                }
              />
            ))}
          </Rows>
          <p>
            <ActButton action="sync">{t.syncNow}</ActButton>
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
      return { flash: { notice: message } }
    },
  },
})
