/** Tabs between the planning pages of a project. */
import { Tabs } from '../components/lists.tsx'
import type { Me } from '../page.ts'
import { belowGroup, type Group } from './group.tsx'
import { below, type Project } from './project.tsx'
import { levelOf } from '../levels.ts'

const PAGES = [
  ['List', 'issues'],
  ['Boards', 'boards'],
  ['Milestones', 'milestones'],
  ['Labels', 'labels'],
] as const

export const PlanningTabs = ({ project, at }: { project: Project; at: (typeof PAGES)[number][1] }) => (
  <Tabs
    label="Planning"
    tabs={PAGES.map(([text, rest]) => ({ text, href: below(project, rest), isCurrent: rest === at }))}
  />
)

const GROUP_PAGES = [
  ['List', 'issues'],
  ['Boards', 'boards'],
] as const

export const GroupPlanningTabs = ({ group, at }: { group: Group; at: (typeof GROUP_PAGES)[number][1] }) => (
  <Tabs
    label="Planning"
    tabs={GROUP_PAGES.map(([text, rest]) => ({ text, href: belowGroup(group, rest), isCurrent: rest === at }))}
  />
)

/** The viewer's level in a project; administrators have all rights. */
export const mayIn = (project: Project, me: Me | null) => (me?.is_admin ? 50 : levelOf(project))
export const REPORTER = 20
export const DEVELOPER = 30
export const MAINTAINER = 40
