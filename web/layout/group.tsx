/** The frame of group pages. */
import type { Can } from '../abilities.ts'
import type { Records } from '../api.ts'
import { Tabs, type Tab } from '../components/lists.tsx'
import { Visibility } from '../components/State.tsx'
import { OWNER } from '../levels.ts'
import { frame, type Me, type PageRequest } from '../page.ts'
import { Shell } from './instance.tsx'
import { Trail } from './project.tsx'
import * as common from '../texts/common.ts'

export type Group = Records['GroupDetails'] & { can: Can<'group'> }

export interface InGroup {
  group: Group
  /** The viewer's role here, by the numbers of the contract: 0 for none. */
  groupLevel: number
}

export const groupFrame = frame<InGroup>({
  load: ({ api, params, me }: PageRequest) => ({
    group: api.withAbilities(
      'group',
      { id: params.id! },
      api.get('/groups/{id}', { id: params.id!, with_projects: false }),
    ),
    groupLevel: groupLevelOf(api, params.id!, me),
  }),
  title: ({ group }) => group.full_path,
  View: ({ group, children, ...drawn }) => (
    <Shell {...drawn}>
      <div class="place">
        <Trail path={group.full_path} />
        {group.visibility && <Visibility of={group.visibility} />}
      </div>
      <Tabs label={common.group} tabs={tabsOf(group, drawn.address)} />
      <main id="main" class="page">
        {children}
      </main>
    </Shell>
  ),
})

async function groupLevelOf(api: PageRequest['api'], id: string, me: Me | null): Promise<number> {
  if (!me) return 0
  if (me.is_admin) return OWNER
  const member = await api.maybe('/groups/{id}/members/all/{user_id}', { id, user_id: me.id })
  return member?.access_level ?? 0
}

/** The URL of a page below a group. */
export const belowGroup = (group: { full_path: string }, rest: string) => `/groups/${group.full_path}/-/${rest}`

function tabsOf(group: Group, address: string): Tab[] {
  const path = address.split('?', 1)[0]!
  const at = path.includes('/-/') ? path.slice(path.indexOf('/-/') + 3) : ''
  const tab = (text: string, rest: string, words: readonly string[]): Tab => ({
    text,
    href: rest === '' ? `/${group.full_path}` : belowGroup(group, rest),
    isCurrent: words.includes(at.split('/')[0] ?? ''),
  })
  return [
    tab(common.overview, '', ['']),
    tab(common.issues, 'issues', ['issues', 'boards', 'deleted_items']),
    tab(common.mergeRequests, 'merge_requests', ['merge_requests']),
    tab(common.milestones, 'milestones', ['milestones']),
    tab(common.labels, 'labels', ['labels']),
    tab(common.members, 'group_members', ['group_members']),
    ...(group.can.own ? [tab(common.settings, 'edit', ['edit', 'settings', 'hooks'])] : []),
  ]
}
