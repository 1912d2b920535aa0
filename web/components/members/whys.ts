/** Why a user who is not a direct member has access. */
import type { Api, Records } from '../../api.ts'
import * as t from '../../texts/members.ts'

type Rule = Records['Access']['rules'][number]

const WORDS: Partial<Record<Rule['rule'], (rule: Rule) => string>> = {
  inherited_membership: ({ group }) => t.inheritedFromFullPath(group?.full_path ?? t.aParentGroup),
  group_share: ({ shared_with, group }) => t.viaFullPath((shared_with ?? group)?.full_path ?? t.aSharedGroup),
  personal_namespace: () => t.ownerOfNamespace,
}

export async function whysOf(
  api: Api,
  scope: 'project' | 'group',
  id: string,
  members: readonly Records['Member'][],
  direct: '/projects/{id}/members',
): Promise<Record<number, string>> {
  if (members.length === 0) return {}
  const user_ids = members.map((member) => member.id)
  const own = new Set((await api.get(direct, { id, user_ids, per_page: 100 })).map((member) => member.id))
  const others = members.filter((member) => !own.has(member.id))
  const whys = others.map(async (member) => [member.id, await whyOf(api, scope, id, member)] as const)
  return Object.fromEntries(await Promise.all(whys))
}

async function whyOf(api: Api, scope: 'project' | 'group', id: string, member: Records['Member']): Promise<string> {
  if (scope === 'group') return t.inheritedFromParentGroup
  const access = await api.maybe('/projects/{id}/access', { id, user_id: member.id })
  const rule = access?.rules.find((one) => one.counts && one.access_level === member.access_level && WORDS[one.rule])
  return (rule && WORDS[rule.rule]?.(rule)) ?? 'inherited'
}
