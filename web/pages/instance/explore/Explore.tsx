/** The content of this server that the viewer can see. */
import type { ComponentChildren } from 'preact'
import { Tabs } from '../../../components/lists.tsx'
import type { Me } from '../../../page.ts'

const VIEWS = [
  ['/explore', 'Projects'],
  ['/explore/groups', 'Groups'],
  ['/explore/users', 'Users'],
] as const

export const Explore = ({ at, me, children }: { at: string; me: Me | null; children: ComponentChildren }) => (
  <>
    <h1>Explore</h1>
    <Tabs
      label="Explore"
      tabs={VIEWS.filter(([href]) => me !== null || href !== '/explore/users').map(([href, text]) => ({
        href,
        text,
        isCurrent: href === at,
      }))}
    />
    <div class="chapter">{children}</div>
  </>
)
