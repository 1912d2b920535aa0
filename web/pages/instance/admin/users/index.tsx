import type { Listed, Records } from '../../../../api.ts'
import { ActButton, Button, Field, Form, Switch } from '../../../../components/Form.tsx'
import { Avatar } from '../../../../components/Avatar.tsx'
import { State } from '../../../../components/State.tsx'
import { Time } from '../../../../components/Time.tsx'
import { Empty, Pages, Row, Rows, Tabs } from '../../../../components/lists.tsx'
import { Approval } from './Approval.tsx'
import { Finder, Fold } from '../../../../components/settings.tsx'
import { flag, listPage, optional } from '../../../../fields.ts'
import { adminFrame } from '../../../../layout/settings.tsx'
import { page as declare, text } from '../../../../page.ts'
import { withQuery } from '../../../../query.ts'
import { rich } from '../../../../rich.ts'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/admin.ts'

type Account = Records['Account'] & { is_admin?: boolean }

interface Data {
  users: Listed<Account[]>
}

const VIEWS = [
  ['', common.all, {}],
  ['active', common.active, { active: true }],
  ['blocked', common.blocked, { blocked: true }],
  ['waiting', common.pendingApproval, { pending_approval: true }],
  ['external', t.external, { external: true }],
] as const

const viewOf = (query: URLSearchParams) => VIEWS.find(([name]) => name === query.get('show')) ?? VIEWS[0]

export const page = declare<Data>({
  signedIn: true,
  frame: adminFrame,
  load: ({ api, query }) => ({
    users: api.list('/users', { search: query.get('search') ?? undefined, ...viewOf(query)[2], ...listPage(query) }),
  }),
  title: () => common.users,
  View: ({ users, query, address, me }) => (
    <>
      <h1>{common.users}</h1>
      <Tabs
        label={common.filter}
        tabs={VIEWS.map(([name, words]) => ({
          text: words,
          href: withQuery(address, { show: name || null }),
          isCurrent: viewOf(query)[0] === name,
        }))}
      />
      <Fold title={t.newUser} action="create">
        <Form action="create">
          <Field name="name" label={common.name} required />
          <Field name="username" label={t.username} required />
          <Field name="email" label={common.email} type="email" required />
          <Field
            name="password"
            label={common.password}
            type="password"
            autocomplete="new-password"
            hint={t.leaveEmptyToEmailUser}
          />
          <Switch name="skip_confirmation" label={t.skipEmailConfirmation} isOn />
          <Switch name="admin" label={t.administrator} />
          <Switch name="external" label={t.externalCanAccessOnlyProjects} />
          <Button kind="main">{t.createUser}</Button>
        </Form>
      </Fold>
      <Finder label={t.searchUsersByNameUsername}>
        {viewOf(query)[0] && <input type="hidden" name="show" value={viewOf(query)[0]} />}
      </Finder>
      {users.items.length === 0 ? (
        <Empty title={t.noUsers} />
      ) : (
        <Rows label={common.users}>
          {users.items.map((user) => (
            <Row
              key={user.id}
              lead={<Avatar of={user} size={32} />}
              title={
                <>
                  <a class="place-link" href={`/admin/users/${user.username}`}>
                    {user.name}
                  </a>{' '}
                  <span class="quiet">@{user.username}</span>{' '}
                  {user.is_admin && <span class="badge">{t.administratorBadge}</span>}{' '}
                  {user.state !== 'active' && <State of={user.state} />}
                </>
              }
              facts={
                <>
                  {rich(t.emailCreatedTime, { email: user.email, time: <Time at={user.created_at} /> })}
                  {user.last_activity_on && <> {t.activeOn(user.last_activity_on)}</>}
                </>
              }
              aside={user.id !== me?.id && <Health of={user} />}
            />
          ))}
        </Rows>
      )}
      <Pages of={users} />
    </>
  ),
  actions: {
    async create({ api, form }) {
      const password = optional(form, 'password')
      const user = await api.post('/users', {
        name: text(form, 'name'),
        username: text(form, 'username'),
        email: text(form, 'email'),
        ...(password ? { password } : { reset_password: true }),
        skip_confirmation: flag(form, 'skip_confirmation'),
        admin: flag(form, 'admin'),
        external: flag(form, 'external'),
      })
      return `/admin/users/${user.username}`
    },
    async block({ api, form }) {
      await api.post('/users/{id}/block', { id: text(form, 'user') })
    },
    async unblock({ api, form }) {
      await api.post('/users/{id}/unblock', { id: text(form, 'user') })
    },
    async approve({ api, form }) {
      await api.post('/users/{id}/approve', { id: text(form, 'user') })
    },
    async reject({ api, form }) {
      await api.post('/users/{id}/reject', { id: text(form, 'user') })
    },
  },
})

function Health({ of: { id, name, state } }: { of: Account }) {
  const fields = { user: id }
  if (state === 'blocked_pending_approval') return <Approval name={name} fields={fields} />
  return state === 'blocked' ? (
    <ActButton action="unblock" fields={fields}>
      {t.unblock}
    </ActButton>
  ) : (
    <ActButton action="block" fields={fields} kind="danger" confirm={t.blockUserNamed(name)}>
      {t.block}
    </ActButton>
  )
}
