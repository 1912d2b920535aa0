/** Members of a project or a group with the source of their membership, and forms to change them. */
import type { Listed, Records } from '../../api.ts'
import { count, listPage, optional } from '../../fields.ts'
import { groupFrame, type InGroup } from '../../layout/group.tsx'
import { projectFrame, type InProject } from '../../layout/project.tsx'
import { OWNER, levelOf, ROLES, roleName, rolesUpTo } from '../../levels.ts'
import { page as declare, text, type Frame, type Page, type PageRequest } from '../../page.ts'
import { undoable } from '../../undo.ts'
import { Avatar } from '../Avatar.tsx'
import { ActButton, Button, Choice, Field, Form } from '../Form.tsx'
import { State } from '../State.tsx'
import { Time } from '../Time.tsx'
import { Empty, Pages, Row, Rows } from '../lists.tsx'
import { Chapter, Finder, Fold } from '../settings.tsx'
import { whysOf } from './whys.ts'
import { rich } from '../../rich.ts'
import * as common from '../../texts/common.ts'
import * as t from '../../texts/members.ts'

type Member = Records['Member']

interface Data {
  members: Listed<Member[]>
  /** For members who are not direct: where the membership comes from. */
  whys: Record<number, string>
  found: Records['UserSummary'][]
  invitations: Records['Invitation'][]
  requests: Records['AccessRequester'][]
  groups: Records['Group'][]
}

type Scope = 'project' | 'group'

/** Both have the same calls below their own prefix. */
function pathsOf(scope: Scope) {
  const before = `/${scope}s/{id}`
  return {
    direct: `${before}/members` as '/projects/{id}/members',
    all: `${before}/members/all` as '/projects/{id}/members/all',
    one: `${before}/members/{user_id}` as '/projects/{id}/members/{user_id}',
    restoration: `${before}/members/{user_id}/restore` as '/projects/{id}/members/{user_id}/restore',
    invitations: `${before}/invitations` as '/projects/{id}/invitations',
    invitation: `${before}/invitations/{email}` as '/projects/{id}/invitations/{email}',
    requests: `${before}/access_requests` as '/projects/{id}/access_requests',
    request: `${before}/access_requests/{user_id}` as '/projects/{id}/access_requests/{user_id}',
    approval: `${before}/access_requests/{user_id}/approve` as '/projects/{id}/access_requests/{user_id}/approve',
    shares: `${before}/share` as '/projects/{id}/share',
    share: `${before}/share/{group_id}` as '/projects/{id}/share/{group_id}',
  }
}

export function membersPage(scope: Scope): Page<Data> {
  const paths = pathsOf(scope)
  const load = async ({ api, params, query, me }: PageRequest) => {
    const id = params.id!
    const members = await api.list(paths.all, { id, query: query.get('search') ?? undefined, ...listPage(query, 50) })
    const term = query.get('find')
    return {
      members,
      whys: whysOf(api, scope, id, members.items, paths.direct),
      found: me && term ? api.get('/users', { search: term, active: true, per_page: 10 }) : [],
      invitations: me ? api.maybe(paths.invitations, { id, per_page: 100 }).then((all) => all ?? []) : [],
      requests: me ? api.maybe(paths.requests, { id, per_page: 100 }).then((all) => all ?? []) : [],
      groups: me ? api.get('/groups', { per_page: 100, order_by: 'path' }) : [],
    }
  }
  const frame: Frame = scope === 'project' ? projectFrame : groupFrame
  return declare<Data, Partial<InProject & InGroup>>({
    frame,
    load,
    title: () => common.members,
    View: ({ project, group, groupLevel = 0, me, ...data }) => {
      const level = me?.is_admin ? OWNER : project ? levelOf(project) : groupLevel
      const mayManage = (project ?? group)!.can.manageMembers
      const shares = (project ?? group)!.shared_with_groups ?? []
      return (
        <>
          <h1>{common.members}</h1>
          {mayManage && <Adding {...data} found={strangers(data)} scope={scope} level={level} />}
          {mayManage && data.requests.length > 0 && <Requests requests={data.requests} level={level} />}
          <Chapter title={t.membersTotal(data.members.total)}>
            <Finder label={t.searchMembers} />
            {data.members.items.length === 0 ? (
              <Empty title={t.noMembers} />
            ) : (
              <Rows label={common.members}>
                {data.members.items.map((member) => (
                  <MemberRow
                    key={member.id}
                    member={member}
                    why={data.whys[member.id]}
                    level={level}
                    mayManage={mayManage}
                    isMe={member.id === me?.id}
                    scope={scope}
                  />
                ))}
              </Rows>
            )}
            <Pages of={data.members} />
          </Chapter>
          {(shares.length > 0 || mayManage) && (
            <Chapter title={common.groups} hint={t.membersOfTheseGroups(scope)}>
              <Rows label={common.groups}>
                {shares.map((share) => (
                  <Row
                    key={share.group_id}
                    title={<a href={`/${share.group_full_path}`}>{share.group_full_path}</a>}
                    facts={t.maxRoleNamed(roleName(share.group_access_level))}
                    aside={
                      mayManage && (
                        <ActButton
                          action="unshare"
                          fields={{ group: share.group_id }}
                          kind="danger"
                          confirm={t.removeThisGroup}
                        >
                          {common.remove}
                        </ActButton>
                      )
                    }
                  />
                ))}
              </Rows>
            </Chapter>
          )}
          {mayManage && data.invitations.length > 0 && (
            <Chapter title={t.pendingInvitations}>
              <Rows label={t.pendingInvitations}>
                {data.invitations.map((one) => (
                  <Row
                    key={one.invite_email}
                    title={one.invite_email}
                    facts={rich(t.roleNameInvitedTime, {
                      roleName: roleName(one.access_level),
                      time: <Time at={one.created_at} />,
                    })}
                    aside={
                      <ActButton action="uninvite" fields={{ email: one.invite_email }} kind="danger">
                        {t.withdraw}
                      </ActButton>
                    }
                  />
                ))}
              </Rows>
            </Chapter>
          )}
        </>
      )
    },
    actions: {
      async add({ api, params, form }) {
        await api.post(paths.direct, {
          id: params.id!,
          user_id: [Number(text(form, 'user'))],
          access_level: Number(text(form, 'access_level')),
          expires_at: optional(form, 'expires_at'),
        })
      },
      async change({ api, params, form }) {
        await api.put(paths.one, {
          id: params.id!,
          user_id: text(form, 'user'),
          access_level: Number(text(form, 'access_level')),
          expires_at: optional(form, 'expires_at') ?? null,
        })
      },
      async remove({ api, params, form, me }) {
        const user = text(form, 'user')
        const member = await api.maybe(paths.one, { id: params.id!, user_id: user })
        await api.delete(paths.one, { id: params.id!, user_id: user })
        if (user === String(me?.id)) return '/'
        return undoable(t.memberRemoved(member?.name ?? user), 'restore', { user })
      },
      async restore({ api, params, form }) {
        await api.post(paths.restoration, { id: params.id!, user_id: text(form, 'user') })
      },
      async invite({ api, params, form }) {
        await api.post(paths.invitations, {
          id: params.id!,
          email: [text(form, 'email')],
          access_level: Number(text(form, 'access_level')),
        })
      },
      async uninvite({ api, params, form }) {
        await api.delete(paths.invitation, { id: params.id!, email: text(form, 'email') })
      },
      async approve({ api, params, form }) {
        await api.put(paths.approval, {
          id: params.id!,
          user_id: text(form, 'user'),
          access_level: count(form, 'access_level'),
        })
      },
      async deny({ api, params, form }) {
        await api.delete(paths.request, { id: params.id!, user_id: text(form, 'user') })
      },
      async share({ api, params, form }) {
        await api.post(paths.shares, {
          id: params.id!,
          group_id: Number(text(form, 'group')),
          group_access: Number(text(form, 'access_level')) as 30,
        })
      },
      async unshare({ api, params, form }) {
        await api.delete(paths.share, { id: params.id!, group_id: text(form, 'group') })
      },
    },
  })
}

/** Users from the search who are not direct members yet. */
const strangers = ({ found, members, whys }: Pick<Data, 'found' | 'members' | 'whys'>) =>
  found.filter(({ id }) => whys[id] !== undefined || members.items.every((member) => member.id !== id))

interface MemberRowProps {
  member: Member
  why: string | undefined
  level: number
  mayManage: boolean
  isMe: boolean
  scope: Scope
}

function MemberRow({ member, why, level, mayManage, isMe, scope }: MemberRowProps) {
  const isOwn = why === undefined
  const mayChange = mayManage && isOwn && rolesUpTo(level).some(([role]) => Number(role) === member.access_level)
  return (
    <Row
      lead={<Avatar of={member} size={32} />}
      title={
        <>
          <a class="place-link" href={`/${member.username}`}>
            {member.name}
          </a>{' '}
          <span class="quiet">@{member.username}</span> {member.state !== 'active' && <State of={member.state} />}
        </>
      }
      facts={
        <>
          {why ?? t.directMember}
          {member.created_at && <> {rich(t.addedTime, { time: <Time at={member.created_at} /> })}</>}
          {member.expires_at && <> {t.expiresOn(member.expires_at.slice(0, 10))}</>}
        </>
      }
      aside={
        <>
          {mayChange ? (
            <Form action="change" class="inline" id={String(member.id)}>
              <input type="hidden" name="user" value={member.id} />
              <input type="hidden" name="expires_at" value={member.expires_at ?? ''} />
              <Choice
                name="access_level"
                label={t.roleOfName(member.name)}
                isQuiet
                options={rolesUpTo(level)}
                value={member.access_level}
              />
              <Button>{common.save}</Button>
            </Form>
          ) : (
            <span class="badge">{roleName(member.access_level)}</span>
          )}
          {isOwn && (mayChange || isMe) && (
            <ActButton
              action="remove"
              fields={{ user: member.id }}
              kind="danger"
              confirm={isMe ? t.leaveScope(scope) : t.removeName(member.name)}
            >
              {isMe ? t.leave : common.remove}
            </ActButton>
          )}
        </>
      }
    />
  )
}

function Adding({ found, groups, scope, level }: Pick<Data, 'found' | 'groups'> & { scope: Scope; level: number }) {
  return (
    <>
      <Finder label={t.addMemberByNameOrUsername} name="find" />
      {found.length > 0 && (
        <Rows label={common.searchResults}>
          {found.map((user) => (
            <Row
              key={user.id}
              lead={<Avatar of={user} size={32} />}
              title={user.name}
              facts={`@${user.username}`}
              aside={
                <Form action="add" class="inline" id={String(user.id)}>
                  <input type="hidden" name="user" value={user.id} />
                  <Choice
                    name="access_level"
                    label={t.roleForName(user.name)}
                    isQuiet
                    options={rolesUpTo(level)}
                    value="30"
                  />
                  <Button kind="main">{common.add}</Button>
                </Form>
              }
            />
          ))}
        </Rows>
      )}
      <Fold title={t.inviteByEmail} action="invite">
        <Form action="invite" resets>
          <Field name="email" label={common.email} type="email" required />
          <Choice name="access_level" label={common.role} options={rolesUpTo(level)} value="30" />
          <Button kind="main">{t.invite}</Button>
        </Form>
      </Fold>
      <Fold title={t.shareWithGroup} action="share">
        <Form action="share" resets>
          <Choice
            name="group"
            label={common.group}
            options={groups.map(({ id, full_path }) => [String(id), full_path])}
          />
          <Choice
            name="access_level"
            label={t.maxRole}
            options={scope === 'project' ? ROLES.slice(0, 4) : ROLES}
            value="30"
          />
          <Button kind="main">{t.share}</Button>
        </Form>
      </Fold>
    </>
  )
}

const Requests = ({ requests, level }: { requests: Data['requests']; level: number }) => (
  <Chapter title={t.accessRequests}>
    <Rows label={t.requests}>
      {requests.map((user) => (
        <Row
          key={user.id}
          lead={<Avatar of={user} size={32} />}
          title={<a href={`/${user.username}`}>{user.name}</a>}
          facts={rich(t.requestedTime, { time: <Time at={user.requested_at} /> })}
          aside={
            <>
              <Form action="approve" class="inline" id={String(user.id)}>
                <input type="hidden" name="user" value={user.id} />
                <Choice
                  name="access_level"
                  label={t.roleForName(user.name)}
                  isQuiet
                  options={rolesUpTo(level)}
                  value="30"
                />
                <Button kind="main">{common.approve}</Button>
              </Form>
              <ActButton action="deny" fields={{ user: user.id }} kind="danger">
                {t.deny}
              </ActButton>
            </>
          }
        />
      ))}
    </Rows>
  </Chapter>
)
