/** Tabs between the planning pages of a project. */
import { Tabs } from '../components/lists.tsx'
import { belowGroup, type Group } from './group.tsx'
import { below, type Project } from './project.tsx'
import * as common from '../texts/common.ts'
import * as t from '../texts/shell.ts'

const PAGES = [
  [t.list, 'issues'],
  [common.boards, 'boards'],
  [common.milestones, 'milestones'],
  [common.labels, 'labels'],
  [t.deleted, 'deleted_items'],
] as const

export const PlanningTabs = ({ project, at }: { project: Project; at: (typeof PAGES)[number][1] }) => (
  <Tabs
    label={t.planning}
    tabs={PAGES.filter(([, rest]) => rest !== 'deleted_items' || project.can.restore).map(([text, rest]) => ({
      text,
      href: below(project, rest),
      isCurrent: rest === at,
    }))}
  />
)

const GROUP_PAGES = [
  [t.list, 'issues'],
  [common.boards, 'boards'],
  [t.deleted, 'deleted_items'],
] as const

export const GroupPlanningTabs = ({ group, at }: { group: Group; at: (typeof GROUP_PAGES)[number][1] }) => (
  <Tabs
    label={t.planning}
    tabs={GROUP_PAGES.filter(([, rest]) => rest !== 'deleted_items' || group.can.restore).map(([text, rest]) => ({
      text,
      href: belowGroup(group, rest),
      isCurrent: rest === at,
    }))}
  />
)
