/** The content of this server that the viewer can see. */
import type { ComponentChildren } from 'preact'
import { Tabs } from '../../../components/lists.tsx'
import type { Me } from '../../../page.ts'
import * as common from '../../../texts/common.ts'

const VIEWS = [
  ['/explore', common.projects],
  ['/explore/groups', common.groups],
  ['/explore/users', common.users],
] as const

export const Explore = ({ at, me, children }: { at: string; me: Me | null; children: ComponentChildren }) => (
  <>
    <h1>{common.explore}</h1>
    <Tabs
      label={common.explore}
      tabs={VIEWS.filter(([href]) => me !== null || href !== '/explore/users').map(([href, text]) => ({
        href,
        text,
        isCurrent: href === at,
      }))}
    />
    <div class="chapter">{children}</div>
  </>
)
