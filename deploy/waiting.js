// Not by the page's own means: where an address ends in "#" and more, as a class's does, these would load nothing anew.
setTimeout(() => location.reload(), 2000);
