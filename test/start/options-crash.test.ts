import { expect, test } from 'vitest'
import { workspace } from '../workspace.ts'
import { type Body, MORTISE_ROOT_TOKEN, call, commit, start, withInstance } from './merge-crash.ts'

/** Far below the minute that another process of the same store is waited for. */
const SOON = { timeout: 25_000, interval: 100 }

test('kill -9 before the options of a push are carried out: they are soon after the next start', () =>
  withInstance(async (settings) => {
    await using work = await workspace()
    const { git } = work
    const opened = async (url: string) =>
      ((await call(url, 'GET', '/projects/root%2Foptions/merge_requests')) as unknown as Body[]).map(
        ({ title, state }) => [title, state],
      )
    {
      await using child = start(settings)
      const url = await child.url()
      const { id } = await call(url, 'POST', '/projects', { path: 'options' })
      await commit(url, `/projects/${id}`, 'master', 'a.txt')
      const address = `${url.replace('://', `://root:${MORTISE_ROOT_TOKEN}@`)}/root/options.git`
      expect(await git('clone', '-q', address, '.')).toMatchObject({ code: 0 })
      await git('checkout', '-q', '-b', 'topic')
      await git('commit', '-q', '--allow-empty', '-m', 'Ask for it')
      const die = 'http.extraHeader=X-Die: before ^insert into "merge_requests"'
      const pushed = await git('-c', die, 'push', '-q', '-o', 'merge_request.create', 'origin', 'topic')
      expect(pushed.code).not.toBe(0)
      expect(await child.ended()).toBe('SIGKILL')
    }
    await using child = start(settings)
    const url = await child.url()
    await expect.poll(() => opened(url), SOON).toEqual([['Ask for it', 'opened']])
  }))
