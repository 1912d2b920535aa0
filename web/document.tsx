/** The HTML document of every page: no inline code, nothing from other hosts. */
export interface Assets {
  readonly script: string
  readonly style: string
  /** Scripts that the page will load. */
  readonly preload: readonly string[]
}

interface DocumentProps {
  title: string
  description: string | null
  feed: string | null
  url: string
  address: string
  project: string | null
  assets: Assets
  body: string
  /** The data that the browser needs to hydrate the page. */
  data: object | null
}

/** A closing tag or a comment inside would end the script element. */
const inScript = (data: object) => JSON.stringify(data).replaceAll('<', '\\u003c')

export function Document({ title, description, feed, url, address, project, assets, body, data }: DocumentProps) {
  const root = url.replace(/^https?:\/\//, '')
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{`${title} · Mortise`}</title>
        <meta property="og:site_name" content="Mortise" />
        <meta property="og:type" content="website" />
        <meta property="og:title" content={title} />
        <meta property="og:url" content={url + address} />
        {description && <meta property="og:description" content={description.slice(0, 300)} />}
        {description && <meta name="description" content={description.slice(0, 300)} />}
        {project?.includes('/') && <meta name="go-import" content={`${root}/${project} git ${url}/${project}.git`} />}
        {feed && <link rel="alternate" type="application/atom+xml" href={feed} title={title} />}
        <link rel="icon" href="/-/assets/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href={assets.style} />
        {data && assets.preload.map((file) => <link rel="modulepreload" href={file} key={file} />)}
        {data && <script type="module" src={assets.script} />}
      </head>
      <body>
        <div id="app" dangerouslySetInnerHTML={{ __html: body }} />
        {data && <script type="application/json" id="data" dangerouslySetInnerHTML={{ __html: inScript(data) }} />}
      </body>
    </html>
  )
}
