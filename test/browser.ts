/** A browser without scripts: keeps cookies, submits forms, and follows a redirect only when told to. */
export interface Page {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  /** The target of a redirect, as sent. */
  readonly location: string | null
}

type Fields = Record<string, string>

export class Browser {
  readonly url: string
  readonly cookies = new Map<string, string>()

  constructor(url: string) {
    this.url = url
  }

  async request(path: string, init: Omit<RequestInit, 'headers'> & { headers?: Fields } = {}): Promise<Page> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(new URL(path, this.url), {
      ...init,
      redirect: 'manual',
      headers: { ...(cookie && { Cookie: cookie }), ...init.headers },
    })
    for (const line of answer.headers.getSetCookie()) this.#keep(line)
    const { status, headers } = answer
    return { status, headers, body: await answer.text(), location: headers.get('location') }
  }

  get(path: string, headers: Fields = {}): Promise<Page> {
    return this.request(path, { headers })
  }

  post(path: string, fields: Fields, headers: Fields = {}): Promise<Page> {
    return this.request(path, { method: 'POST', body: new URLSearchParams(fields), headers })
  }

  /** Submits the form of a page with its hidden fields, as a browser does. */
  submit(page: Page, fields: Fields = {}): Promise<Page> {
    const action = unescape(/<form[^>]* action="([^"]*)"/.exec(page.body)?.[1] ?? '')
    return this.post(action, { ...hiddenFields(page), ...fields })
  }

  async signIn(login: string, password: string, returnTo = ''): Promise<Page> {
    const page = await this.get(`/users/sign_in?${new URLSearchParams({ return_to: returnTo })}`)
    return this.submit(page, { 'user[login]': login, 'user[password]': password })
  }

  #keep(line: string): void {
    const [pair = ''] = line.split(';')
    const at = pair.indexOf('=')
    if (/max-age=0/i.test(line)) this.cookies.delete(pair.slice(0, at))
    else this.cookies.set(pair.slice(0, at), pair.slice(at + 1))
  }
}

export function hiddenFields({ body }: Page): Fields {
  const inputs = body.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)
  return Object.fromEntries([...inputs].map(([, name, value]) => [name!, unescape(value!)]))
}

function unescape(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
