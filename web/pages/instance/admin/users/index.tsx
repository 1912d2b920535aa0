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

type Account = Records['Account'] & { is_admin?: boolean }

interface Data {
  users: Listed<Account[]>
}

const VIEWS = [
  ['', 'All', {}],
  ['active', 'Active', { active: true }],
  ['blocked', 'Blocked', { blocked: true }],
  ['waiting', 'Pending approval', { pending_approval: true }],
  ['external', 'External', { external: true }],
] as const

const viewOf = (query: URLSearchParams) => VIEWS.find(([name]) => name === query.get('show')) ?? VIEWS[0]

export const page = declare<Data>({
  signedIn: true,
  frame: adminFrame,
  load: ({ api, query }) => ({
    users: api.list('/users', { search: query.get('search') ?? undefined, ...viewOf(query)[2], ...listPage(query) }),
  }),
  title: () => 'Users',
  View: ({ users, query, address, me }) => (
    <>
      <h1>Users</h1>
      <Tabs
        label="Filter"
        tabs={VIEWS.map(([name, words]) => ({
          text: words,
          href: withQuery(address, { show: name || null }),
          isCurrent: viewOf(query)[0] === name,
        }))}
      />
      <Fold title="New user" action="create">
        <Form action="create">
          <Field name="name" label="Name" required />
          <Field name="username" label="Username" required />
          <Field name="email" label="Email" type="email" required />
          <Field
            name="password"
            label="Password"
            type="password"
            autocomplete="new-password"
            hint="Leave empty to email the user a link to set a password."
          />
          <Switch name="skip_confirmation" label="Skip email confirmation" isOn />
          <Switch name="admin" label="Administrator" />
          <Switch name="external" label="External: can access only projects and groups they are a member of" />
          <Button kind="main">Create user</Button>
        </Form>
      </Fold>
      <Finder label="Search users by name, username or email">
        {viewOf(query)[0] && <input type="hidden" name="show" value={viewOf(query)[0]} />}
      </Finder>
      {users.items.length === 0 ? (
        <Empty title="No users" />
      ) : (
        <Rows label="Users">
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
                  {user.is_admin && <span class="badge">administrator</span>}{' '}
                  {user.state !== 'active' && <State of={user.state} />}
                </>
              }
              facts={
                <>
                  {user.email} · created <Time at={user.created_at} />
                  {user.last_activity_on && <> · active on {user.last_activity_on}</>}
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
      Unblock
    </ActButton>
  ) : (
    <ActButton
      action="block"
      fields={fields}
      kind="danger"
      confirm={`Block ${name}? The user is signed out and cannot sign in.`}
    >
      Block
    </ActButton>
  )
}
