/** The frame of every page: home link, search, and links to the viewer's todos, issues and merge requests. */
import type { ComponentChildren } from 'preact'
import { Avatar } from '../components/Avatar.tsx'
import { Icon } from '../components/Icon.tsx'
import { TokenField } from '../components/Form.tsx'
import { Messages } from './Messages.tsx'
import { frame, type Drawn } from '../page.ts'

export const instanceFrame = frame<object>({
  load: () => ({}),
  title: () => '',
  View: ({ children, ...drawn }) => (
    <Shell {...drawn}>
      <main id="main" class="page">
        {children}
      </main>
    </Shell>
  ),
})

export function Shell({ me, query, address, children }: Drawn & { children: ComponentChildren }) {
  const isSearch = address.startsWith('/search')
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href="/" data-key="g h">
          <Icon name="logo" />
          <span>Mortise</span>
        </a>
        <form class="top-search" role="search" action="/search">
          <input
            id="search"
            type="search"
            name="search"
            placeholder="Search or press /"
            aria-label="Search"
            value={isSearch ? (query.get('search') ?? '') : ''}
          />
        </form>
        <nav class="top-nav" aria-label="Main">
          {me ? <Signed me={me} /> : <Visitor address={address} />}
        </nav>
      </header>
      <Messages />
      {children}
    </>
  )
}

function Visitor({ address }: { address: string }) {
  return (
    <>
      <a href="/explore">Explore</a>
      <a href="/help">Help</a>
      <a class="button" href={`/users/sign_in?return_to=${encodeURIComponent(address)}`}>
        Sign in
      </a>
    </>
  )
}

function Signed({ me }: { me: NonNullable<Drawn['me']> }) {
  return (
    <>
      <a href="/dashboard/todos" aria-label="To-do list" title="To-do list" data-key="g t">
        <Icon name="todo" />
      </a>
      <a href="/dashboard/issues" aria-label="My issues" title="My issues" data-key="g i">
        <Icon name="issue" />
      </a>
      <a href="/dashboard/merge_requests" aria-label="My merge requests" title="My merge requests" data-key="g m">
        <Icon name="merge-request" />
      </a>
      <details class="menu">
        <summary aria-label="New…" title="New…">
          <Icon name="plus" />
        </summary>
        <div class="menu-items">
          <a href="/projects/new">New project</a>
          <a href="/groups/new">New group</a>
          <a href="/-/snippets/new">New snippet</a>
        </div>
      </details>
      <details class="menu">
        <summary aria-label="Account">
          <Avatar of={me} size={24} />
        </summary>
        <div class="menu-items">
          <a href={`/${me.username}`}>
            <strong>{me.name}</strong>
            <br />
            <span class="quiet">@{me.username}</span>
          </a>
          <a href="/explore">Explore</a>
          <a href="/-/profile">Settings</a>
          <a href="/help">Help</a>
          {me.is_admin && <a href="/admin">Administration</a>}
          <form method="post" action="/users/sign_out">
            <TokenField />
            <button class="plain">Sign out</button>
          </form>
        </div>
      </details>
    </>
  )
}
