/** A folder or a file of a tree of sources. */
export interface TreeNode {
  /** One part of the path; an empty part is the root of an absolute path. */
  readonly name: string;
  /** Present for a file: its whole path, as the compiler was given it. */
  readonly path?: string;
  readonly children: readonly TreeNode[];
}

interface Growing {
  readonly name: string;
  path?: string;
  readonly children: Map<string, Growing>;
}

const LONGEST = 1_000;

/**
 * The tree of source paths. Paths are data: they are cut at slashes and nothing else is made of them, so that `..`
 * and an empty part are folders with odd names. Folders with one child are one line with it.
 */
export function buildFileTree(paths: readonly string[]): TreeNode[] {
  const root: Growing = { name: '', children: new Map() };
  for (const path of paths) {
    let node = root;
    // Records from before paths were bounded may hold paths of any length: nobody looks for a folder in those.
    const parts = path.length > LONGEST ? [path] : path.split('/');
    for (const [index, part] of parts.entries()) {
      // A file and a folder may have one name: `a` and `a/b` are both possible.
      const isFile = index === parts.length - 1;
      const key = `${isFile ? 'f' : 'd'}${part}`;
      const child: Growing = node.children.get(key) ?? { name: part, children: new Map() };
      node.children.set(key, child);
      node = child;
    }
    node.path = path;
  }
  return freeze(root);
}

function freeze({ children }: Growing): TreeNode[] {
  return [...children.values()].map((child) => {
    let node = child;
    let { name } = child;
    for (;;) {
      const [only, another] = node.children.values();
      if (node.path !== undefined || only === undefined || another !== undefined) break;
      if (only.path !== undefined) break;
      name = `${name}/${only.name}`;
      node = only;
    }
    return {
      name,
      ...(node.path !== undefined && { path: node.path }),
      children: freeze(node),
    };
  });
}
