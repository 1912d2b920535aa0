/** One account, as administrators see it. */
import { Refused, type Records } from '../../../../api.ts'
import { ActButton, Button, Field, Form, Switch } from '../../../../components/Form.tsx'
import { Approval } from './Approval.tsx'
import { State } from '../../../../components/State.tsx'
import { Time } from '../../../../components/Time.tsx'
import { Row, Rows } from '../../../../components/lists.tsx'
import { Confirmed, assertTyped } from '../../../../components/confirmed.tsx'
import { Chapter, Facts, Notice } from '../../../../components/settings.tsx'
import { count, flag, flags, optional } from '../../../../fields.ts'
import { adminFrame } from '../../../../layout/settings.tsx'
import { roleName } from '../../../../levels.ts'
import { page as declare, text, type Act, type PageRequest } from '../../../../page.ts'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/admin.ts'

interface Data {
  user: Records['AdministeredUser']
  memberships: Records['Membership'][]
  sessions: Records['Session'][]
  keys: Records['SshKey'][]
}

const SWITCHES = [
  ['admin', 'is_admin', t.administrator],
  ['external', 'external', t.externalCanAccessOnlyProjects],
  ['can_create_group', 'can_create_group', t.canCreateGroups],
] as const

async function userOf({ api, params }: Pick<PageRequest, 'api' | 'params'>): Promise<Records['AdministeredUser']> {
  const [found] = await api.get('/users', { username: params.username! })
  if (!found) throw new Refused({ status: 404, headers: {}, body: null })
  return api.get('/users/{id}', { id: found.id })
}

const act = (path: 'block' | 'unblock' | 'deactivate' | 'activate' | 'approve') => async (request: Act) => {
  const { id } = await userOf(request)
  await request.api.post(`/users/{id}/${path}`, { id })
}

export const page = declare<Data>({
  signedIn: true,
  frame: adminFrame,
  async load(request) {
    if (!request.me?.is_admin) throw new Refused({ status: 404, headers: {}, body: null })
    const user = await userOf(request)
    const { api } = request
    const { id } = user
    return {
      user,
      memberships: api.get('/users/{id}/memberships', { id, per_page: 100 }),
      sessions: api.get('/users/{id}/sessions', { id, per_page: 100 }),
      keys: api.get('/users/{id}/keys', { id, per_page: 100 }),
    }
  },
  title: ({ user }) => user.name,
  View: ({ user, memberships, sessions, keys, me }) => (
    <>
      <p>
        <a href="/admin/users">{t.allUsers}</a>
      </p>
      <h1>{user.name}</h1>
      <Notice />
      <p class="row">
        <State of={user.state} />
        <a href={`/${user.username}`}>@{user.username}</a>
        {user.is_admin && <span class="badge">{t.administratorBadge}</span>}
      </p>
      {user.id !== me?.id && (
        <p class="row">
          {user.state === 'blocked_pending_approval' && <Approval name={user.name} />}
          {user.state === 'blocked' ? (
            <ActButton action="unblock">{t.unblock}</ActButton>
          ) : (
            <ActButton action="block" kind="danger" confirm={t.blockThisUserUser}>
              {t.block}
            </ActButton>
          )}
          {user.state === 'deactivated' ? (
            <ActButton action="activate">{t.activate}</ActButton>
          ) : (
            user.state === 'active' && <ActButton action="deactivate">{t.deactivate}</ActButton>
          )}
          <ActButton action="revoke" kind="danger" confirm={t.signOutAllSessions}>
            {t.revokeAllCredentials}
          </ActButton>
        </p>
      )}
      <Facts
        of={[
          [common.created, <Time at={user.created_at} />],
          [t.lastSignIn, user.last_sign_in_at ? <Time at={user.last_sign_in_at} /> : 'never'],
          [common.email, user.confirmed_at ? 'confirmed' : 'unconfirmed'],
          [common.sessions, sessions.length],
          [common.sshKeys, keys.length],
          [t.signInProviders, user.identities.map(({ provider }) => provider).join(', ') || 'password'],
        ]}
      />
      <Chapter title={common.account}>
        <Form action="save">
          <Field name="name" label={common.name} value={user.name} required />
          <Field name="username" label={t.username} value={user.username} required />
          <Field name="email" label={common.email} type="email" value={user.email} required />
          <Field
            name="password"
            label={common.newPassword}
            type="password"
            autocomplete="new-password"
            hint={t.leaveEmptyToKeepCurrent}
          />
          <Switch name="revoke_tokens" label={t.alsoRevokeAllTokens} hint={t.sshKeysAreKept} isOn={false} />
          <Field name="projects_limit" label={t.projectLimit} type="number" value={user.projects_limit} />
          {SWITCHES.map(([name, now, label]) => (
            <Switch name={name} label={label} isOn={user[now]} key={name} />
          ))}
          <Button kind="main">{t.saveAccount}</Button>
        </Form>
      </Chapter>
      {memberships.length > 0 && (
        <Chapter title={t.memberships}>
          <Rows label={t.memberships}>
            {memberships.map((one) => (
              <Row
                key={`${one.source_type} ${one.source_id}`}
                title={one.source_name}
                facts={`${one.source_type === 'Project' ? t.project : t.group} · ${roleName(one.access_level)}`}
              />
            ))}
          </Rows>
        </Chapter>
      )}
      {user.id !== me?.id && (
        <Confirmed
          title={t.deleteThisUser}
          hint={t.deletesUserAndAllPersonal}
          action="remove"
          word={user.username}
          button={t.deleteUser}
        />
      )}
    </>
  ),
  actions: {
    block: act('block'),
    unblock: act('unblock'),
    approve: act('approve'),
    async reject(request) {
      const { id } = await userOf(request)
      await request.api.post('/users/{id}/reject', { id })
      return '/admin/users?show=waiting'
    },
    activate: act('activate'),
    deactivate: act('deactivate'),
    async revoke(request) {
      const { id } = await userOf(request)
      await request.api.post('/users/{id}/revoke_credentials', { id })
      return { flash: { notice: t.allSessionsSignedOut } }
    },
    async save(request) {
      const { api, form, params } = request
      const { id } = await userOf(request)
      const user = await api.put('/users/{id}', {
        id,
        name: text(form, 'name'),
        username: text(form, 'username'),
        email: text(form, 'email'),
        password: optional(form, 'password'),
        revoke_tokens: (optional(form, 'password') && flag(form, 'revoke_tokens')) || undefined,
        projects_limit: count(form, 'projects_limit'),
        ...flags(
          form,
          SWITCHES.map(([name]) => name),
        ),
      })
      if (user.username !== params.username) return `/admin/users/${user.username}`
      return { flash: { notice: common.saved } }
    },
    async remove(request) {
      assertTyped(request.form, request.params.username!)
      const { id } = await userOf(request)
      await request.api.delete('/users/{id}', { id })
      return '/admin/users'
    },
  },
})
