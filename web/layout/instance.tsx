/** The frame of every page: home link, search, and links to the viewer's todos, issues and merge requests. */
import type { ComponentChildren } from 'preact'
import { Avatar } from '../components/Avatar.tsx'
import { Icon } from '../components/Icon.tsx'
import { TokenField } from '../components/Form.tsx'
import { Messages } from './Messages.tsx'
import { frame, type Drawn } from '../page.ts'
import * as common from '../texts/common.ts'
import * as t from '../texts/shell.ts'
import './instance.css'

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
        {t.skipToContent}
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
            placeholder={t.searchOrPress}
            aria-label={common.search}
            value={isSearch ? (query.get('search') ?? '') : ''}
          />
        </form>
        <nav class="top-nav" aria-label={t.main}>
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
      <a href="/explore">{common.explore}</a>
      <a href="/help">{common.help}</a>
      <a class="button" href={`/users/sign_in?return_to=${encodeURIComponent(address)}`}>
        {t.signIn}
      </a>
    </>
  )
}

function Signed({ me }: { me: NonNullable<Drawn['me']> }) {
  return (
    <>
      <a href="/dashboard/todos" aria-label={common.toDoList} title={common.toDoList} data-key="g t">
        <Icon name="todo" />
      </a>
      <a href="/dashboard/issues" aria-label={common.myIssues} title={common.myIssues} data-key="g i">
        <Icon name="issue" />
      </a>
      <a
        href="/dashboard/merge_requests"
        aria-label={common.myMergeRequests}
        title={common.myMergeRequests}
        data-key="g m"
      >
        <Icon name="merge-request" />
      </a>
      <details class="menu">
        <summary aria-label={t.newItem} title={t.newItem}>
          <Icon name="plus" />
        </summary>
        <div class="menu-items">
          <a href="/projects/new">{common.newProject}</a>
          <a href="/groups/new">{common.newGroup}</a>
          <a href="/-/snippets/new">{common.newSnippet}</a>
        </div>
      </details>
      <details class="menu">
        <summary aria-label={common.account}>
          <Avatar of={me} size={24} />
        </summary>
        <div class="menu-items">
          <a href={`/${me.username}`}>
            <strong>{me.name}</strong>
            <br />
            <span class="quiet">@{me.username}</span>
          </a>
          <a href="/explore">{common.explore}</a>
          <a href="/-/profile">{common.settings}</a>
          <a href="/help">{common.help}</a>
          {me.is_admin && <a href="/admin">{common.administration}</a>}
          <form method="post" action="/users/sign_out">
            <TokenField />
            <button class="plain">{common.signOut}</button>
          </form>
        </div>
      </details>
    </>
  )
}
