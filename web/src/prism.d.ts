declare module 'prismjs/components/*';
